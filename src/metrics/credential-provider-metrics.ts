import type { Happenings } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

type Heard = Pick<Happenings, 'credentialProvidersRead' | 'credentialProviderAsked'>;

/** Programs that know the credentials of registries (pkg/credentialprovider/plugin/metrics.go). Their names are the configuration's. */
export function credentialProviderMetrics(set: MetricSet): Heard {
  const seconds = set.histogram(
    'kubelet_credential_provider_plugin_duration',
    'Duration of execution in seconds for credential provider plugin',
    ['plugin_name'],
  );
  const errors = set.counter('kubelet_credential_provider_plugin_errors_total', 'Number of errors from credential provider plugin', [
    'plugin_name',
  ]);
  const config = set.gauge(
    'kubelet_credential_provider_config_info',
    'Information about the last applied credential provider configuration with hash as label',
    ['hash'],
  );
  return {
    credentialProvidersRead: ({ hash }) => config.set({ hash }, 1),
    credentialProviderAsked: ({ provider, tookMs, failed }) => {
      const label = { plugin_name: provider };
      seconds.observe(label, tookMs / 1000);
      if (failed) errors.inc(label);
    },
  };
}
