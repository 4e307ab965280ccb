import type { Happenings } from '../ports/happenings.ts';
import { boundedNames } from './bounded-names.ts';
import type { MetricSet } from './metric-set.ts';

/** Device plugins, and who asks which pod has what (pkg/kubelet/metrics). */
export function deviceMetrics(set: MetricSet): Pick<Happenings, 'devicePluginRegistered' | 'devicesAllocated' | 'podResourcesAsked'> {
  const registrations = set.counter(
    'kubelet_device_plugin_registration_total',
    'Cumulative number of device plugin registrations. Broken down by resource name.',
    ['resource_name'],
  );
  const allocations = set.histogram(
    'kubelet_device_plugin_alloc_duration_seconds',
    'Duration in seconds to serve a device plugin Allocation request. Broken down by resource name.',
    ['resource_name'],
  );
  const asked = set.counter(
    'kubelet_pod_resources_endpoint_requests_total',
    'Cumulative number of requests to the PodResource endpoint. Broken down by server api version.',
    ['server_api_version'],
  );
  const ofMethod = (kind: 'requests' | 'errors', method: 'list' | 'get' | 'get_allocatable') =>
    set.counter(
      `kubelet_pod_resources_endpoint_${kind}_${method}`,
      `Number of ${kind} ${kind === 'requests' ? 'to' : 'of'} the PodResource ${method} endpoint. Broken down by server api version.`,
      ['server_api_version'],
    );
  const counters = (method: 'list' | 'get' | 'get_allocatable') => ({
    requests: ofMethod('requests', method),
    errors: ofMethod('errors', method),
  });
  const methods = { list: counters('list'), get: counters('get'), getAllocatable: counters('get_allocatable') };
  const nameOf = boundedNames();
  const labelOf = (resource: string): { readonly resource_name: string } => ({ resource_name: nameOf(resource) });
  return {
    devicePluginRegistered: ({ resource }) => registrations.inc(labelOf(resource)),
    devicesAllocated: ({ resource, tookMs }) => allocations.observe(labelOf(resource), tookMs / 1000),
    podResourcesAsked: ({ version, method, failed }) => {
      const label = { server_api_version: version };
      asked.inc(label);
      // A kubelet counts them of v1 alone.
      if (version !== 'v1') return;
      methods[method].requests.inc(label);
      if (failed) methods[method].errors.inc(label);
    },
  };
}
