import { withoutCredentials } from '../base/without-credentials.ts';
import type { PodFullName } from '../model/pod.ts';
import type { PodAction, PodPhaseOfLife, ReconcileRecord } from '../ports/pod-plan.ts';
import type { TracedWork } from '../ports/tracing.ts';
import { MOST_TEXT, type Span, type SpanAttributes } from './span.ts';

/** How a span shows its work. Names and attributes are the kubelet's and OpenTelemetry's where these have some, else they begin with "rxlet.". */
export type Described = Pick<Span, 'name' | 'kind' | 'attributes'>;

export function describeWork(work: TracedWork): Described {
  switch (work.do) {
    case 'look':
      // pkg/kubelet/kubelet.go SyncPod
      return { name: 'syncPod', kind: 'internal', attributes: { 'k8s.pod.uid': cut(work.uid), ...namedPod(work.name) } };
    case 'act':
      return { name: work.action.do, kind: 'internal', attributes: describeAction(work.action) };
    case 'operate':
      return { name: work.operation, kind: 'internal', attributes: {} };
    case 'pull':
      return {
        name: 'pullImage',
        kind: 'internal',
        attributes: { 'container.image.name': cut(work.image), 'k8s.container.name': cut(work.container) },
      };
    case 'ask the API':
      // As client-go names its requests (otelhttp).
      return {
        name: `HTTP ${work.method}`,
        kind: 'client',
        attributes: {
          'http.request.method': work.method,
          'server.address': work.server,
          'url.path': cut(work.path),
          'rxlet.client': work.client,
        },
      };
    case 'serve':
      // As the kubelet names its routes (otelrestful).
      return {
        name: work.route,
        kind: 'server',
        attributes: { 'http.request.method': cut(work.method), 'http.route': work.route },
      };
    default:
      return work satisfies never;
  }
}

/** What a look has come to. */
export function describeLook({
  uid,
  pod,
  life,
  wakes,
  plan,
  phase,
  failed,
  next,
  unobserved,
}: ReconcileRecord): Pick<Described, 'name' | 'attributes'> {
  const [namespace = '', name] = pod.split('/');
  return {
    name: lookNames[life],
    attributes: {
      'k8s.pod.uid': cut(uid),
      'k8s.pod': cut(pod),
      ...(name !== undefined && { 'k8s.pod.name': cut(name), 'k8s.namespace.name': cut(namespace) }),
      'k8s.pod.update_type':
        life === 'terminating' ? 'kill' : wakes.includes('pod added') ? 'create' : wakes.includes('pod updated') ? 'update' : 'sync',
      'rxlet.life': life,
      'rxlet.wakes': some(wakes),
      'rxlet.because': some(plan.because),
      'rxlet.actions': plan.actions.length,
      ...(phase !== undefined && { 'rxlet.phase': phase }),
      'rxlet.outcome': failed === undefined ? 'done' : failed === 'interrupted' ? 'interrupted' : unobserved ? 'unobserved' : 'failed',
      'rxlet.next': typeof next === 'string' ? next : `after ${next.afterMs} ms`,
    },
  };
}

/** pkg/kubelet/kubelet.go */
const lookNames: Readonly<Record<PodPhaseOfLife, string>> = {
  waiting: 'syncPod',
  syncing: 'syncPod',
  terminating: 'syncTerminatingPod',
  terminated: 'syncTerminatedPod',
};

function namedPod(fullName: PodFullName | undefined): SpanAttributes {
  // A pod's name has no underscore, nor has a namespace.
  const [name, namespace] = fullName?.split('_') ?? [];
  if (name === undefined || namespace === undefined) return {};
  return { 'k8s.pod': cut(`${namespace}/${name}`), 'k8s.pod.name': cut(name), 'k8s.namespace.name': cut(namespace) };
}

function describeAction(action: PodAction): SpanAttributes {
  return {
    ...('name' in action && { 'k8s.container.name': cut(action.name) }),
    ...('id' in action && { 'container.id': cut(action.id) }),
    ...('attempt' in action && { 'rxlet.attempt': action.attempt }),
    ...('why' in action && { 'rxlet.reason': cut(action.why) }),
  };
}

/** More sentences help no reader. */
const MOST_TEXTS = 32;

const some = (texts: readonly string[]): readonly string[] => texts.slice(0, MOST_TEXTS).map(cut);

/** A collector keeps it for people to read. */
export function cut(text: string): string {
  const shown = withoutCredentials(text);
  return shown.length > MOST_TEXT ? `${shown.slice(0, MOST_TEXT)}…` : shown;
}

/** "POST /containers/{id}/start" of "POST /containers/ID/start": few, whatever the path holds. Without its query. Methods of CRI as they are. */
export function engineCallName(what: string): string {
  const [method = '', target] = what.split(' ');
  if (target === undefined) return method;
  const [path = ''] = target.split('?');
  const [, collection = '', ...rest] = path.split('/');
  const verb = engineVerbs.has(rest.at(-1) ?? '') ? rest.pop() : undefined;
  return [`${method} /${cut(collection)}`, ...(rest.length > 0 ? ['{id}'] : []), ...(verb === undefined ? [] : [verb])].join('/');
}

const engineVerbs: ReadonlySet<string> = new Set(
  'archive attach connect create disconnect exec history inspect json kill logs prune resize start stats stop top update wait'.split(' '),
);
