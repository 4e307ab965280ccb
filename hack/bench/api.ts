// npm run bench -- api [--rounds=20 --burst=30 --idle=50 --idle-seconds=60 --cluster=DIR --reference=PATH]: pods through the API server,
// this agent and the reference kubelet one after the other on one engine and one control plane. Bars are ratios to the reference, and for a
// single pod's start also to the engine's own speed: raw calls, and the API server's two writes that no agent can do without, in the same rounds.
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ApiClient } from './api-client.ts';
import { type ClusterNode, hack, nodeReady, pause, quantile, removeNodeDirectory, startOurs, startReference } from './cluster-nodes.ts';
import type { NodeProcess } from './node-process.ts';
import { PodWatch, PODS } from './pod-watch.ts';
import { RawEngine } from './raw-engine.ts';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '20' },
    burst: { type: 'string', default: '30' },
    idle: { type: 'string', default: '50' },
    'idle-seconds': { type: 'string', default: '60' },
    cluster: { type: 'string', default: '/var/lib/rxlet-test-cluster' },
    engine: { type: 'string', default: '' },
    /** The kubelet to compare with: a version that still speaks to Docker by itself. Empty: none. */
    reference: { type: 'string', default: join(process.env['KUBEBUILDER_ASSETS'] ?? '', 'kubelet') },
  },
});
const NODE = 'lab';

const endpoint = values.engine || hack('docker.sh', 'up', '/var/lib/rxlet-test-engine');
hack('kube.sh', 'up', values.cluster, NODE);
const api = new ApiClient(join(values.cluster, 'admin.kubeconfig'));
const engine = new RawEngine(endpoint);
const dir = mkdtempSync(join(tmpdir(), 'rxlet-bench-api-'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const manifest = (name: string, nodeName = NODE): unknown => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    nodeName,
    terminationGracePeriodSeconds: 1,
    automountServiceAccountToken: false,
    tolerations: [{ operator: 'Exists' }],
    containers: [
      {
        name: 'app',
        image: 'busybox:1.35',
        imagePullPolicy: 'IfNotPresent',
        command: ['sh', '-c', "trap 'exit 0' TERM; sleep 100000 & wait"],
        resources: { requests: { cpu: '1m', memory: '8Mi' }, limits: { memory: '64Mi' } },
      },
    ],
  },
});

const watch = await PodWatch.start(api);
const told = watch.told.bind(watch);

interface Result {
  readonly createMs: number;
  /** As createMs, without what the two writes cost in the same round. */
  readonly lessWritesMs: number;
  /** The engine's own speed. */
  readonly rawMs: number;
  readonly burstMs: number;
  readonly deleteMs: number;
  readonly cpuPercent: number;
  readonly rssMiB: number;
  readonly requestsPerMinute: number;
}

/** What the API server itself takes for a pod: to be told of it, and that it runs, each until whoever watches has heard. */
async function twoWrites(name: string): Promise<number> {
  const ready = told('ready', name);
  const at = performance.now();
  // On a node without an agent.
  await api.call('POST', PODS, manifest(name, 'nowhere'));
  const now = new Date().toISOString();
  const state = { running: { startedAt: now } };
  const app = { name: 'app', image: 'busybox:1.35', imageID: '', ready: true, restartCount: 0, started: true, state };
  await api.call('PATCH', `${PODS}/${name}/status`, { status: { phase: 'Running', startTime: now, containerStatuses: [app] } });
  await ready;
  const tookMs = performance.now() - at;
  await api.call('DELETE', `${PODS}/${name}?gracePeriodSeconds=0`);
  return tookMs;
}

/** The engine's least for a pod. */
async function rawStart(name: string): Promise<number> {
  const at = performance.now();
  const ids = await engine.startPod(name, 'rxlet/pause:1', 'busybox:1.35');
  const tookMs = performance.now() - at;
  await engine.remove(ids);
  return tookMs;
}

async function measure(start: () => NodeProcess, baseline: number, prefix: string): Promise<Result> {
  const agent = start();
  try {
    await nodeReady(api, NODE);
    const create: number[] = [];
    const lessWrites: number[] = [];
    const raw: number[] = [];
    const remove: number[] = [];
    for (let i = 0; i < Number(values.rounds); i++) {
      const name = `${prefix}-single-${i}`;
      raw.push(await rawStart(`raw-${name}`));
      const writesMs = await twoWrites(`${prefix}-writes-${i}`);
      const ready = told('ready', name);
      let at = performance.now();
      await api.call('POST', PODS, manifest(name));
      await ready;
      create.push(performance.now() - at);
      lessWrites.push((create.at(-1) ?? 0) - writesMs);
      await pause(1000);
      const gone = told('gone', name);
      at = performance.now();
      await api.call('DELETE', `${PODS}/${name}`);
      await gone;
      remove.push(performance.now() - at);
      await pause(500);
    }
    const names = Array.from({ length: Number(values.burst) }, (_, i) => `${prefix}-burst-${i}`);
    const all = Promise.all(names.map((name) => told('ready', name)));
    const at = performance.now();
    for (const name of names) await api.call('POST', PODS, manifest(name));
    await all;
    const burstMs = performance.now() - at;
    await removeAll(names);

    const idle = Array.from({ length: Number(values.idle) }, (_, i) => `${prefix}-idle-${i}`);
    const idling = Promise.all(idle.map((name) => told('ready', name)));
    for (const name of idle) await api.call('POST', PODS, manifest(name));
    await idling;
    await pause(15_000);
    const seconds = Number(values['idle-seconds']);
    const [cpu, requests] = [agent.cpuSeconds(), await api.requestsAnswered()];
    await pause(seconds * 1000);
    const requestsPerMinute = (((await api.requestsAnswered()) - requests) / seconds) * 60 - baseline;
    const cpuPercent = ((agent.cpuSeconds() - cpu) / seconds) * 100;
    const rssMiB = agent.rssMiB();
    await removeAll(idle);
    const p50 = (list: readonly number[]): number => quantile(list, 0.5);
    return {
      createMs: p50(create),
      lessWritesMs: p50(lessWrites),
      rawMs: p50(raw),
      burstMs,
      deleteMs: p50(remove),
      cpuPercent,
      rssMiB,
      requestsPerMinute,
    };
  } finally {
    await agent.stop();
    for (const { Id } of (await engine.call('GET', '/containers/json?all=1')) as { Id: string }[]) await engine.remove([Id]);
  }
}

async function removeAll(names: readonly string[]): Promise<void> {
  const gone = Promise.all(names.map((name) => told('gone', name)));
  for (const name of names) await api.call('DELETE', `${PODS}/${name}`);
  await gone;
}

/** What everybody but the node asks of the API server. */
async function baselineRequests(): Promise<number> {
  // Controllers that have just started ask more than they do later.
  await pause(60_000);
  const before = await api.requestsAnswered();
  await pause(60_000);
  return (await api.requestsAnswered()) - before;
}

const nodeOf = (who: string): ClusterNode => ({
  name: NODE,
  endpoint,
  kubeconfig: join(values.cluster, 'node.kubeconfig'),
  dir: join(dir, who),
  config: {
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
    authorization: { mode: 'Webhook' },
    failSwapOn: false,
    oomScoreAdj: 0,
    evictionHard: {},
  },
});

const show = (
  what: string,
  unit: string,
  pick: (result: Result) => number,
  ours: Result,
  reference: Result | undefined,
  bar: string,
): void => {
  const ratio = reference ? `, reference ${pick(reference).toFixed(1)} ${unit}, ratio ${(pick(ours) / pick(reference)).toFixed(2)}` : '';
  console.log(`${what}: ${pick(ours).toFixed(1)} ${unit}${ratio} (bar ${bar})`);
};

/** Against the raw engine calls of the same rounds. */
function showAgainstRaw(ours: Result, reference: Result | undefined): void {
  const against = ({ lessWritesMs, rawMs }: Result): string =>
    `${lessWritesMs.toFixed(1)} ms, raw ${rawMs.toFixed(1)} ms, ratio ${(lessWritesMs / rawMs).toFixed(2)}`;
  const other = reference ? `; reference ${against(reference)}` : '';
  console.log(`create to Running and Ready less the API server's own two writes, p50: ${against(ours)} (bar 1.00)${other}`);
}

try {
  const baseline = await baselineRequests();
  const ours = await measure(() => startOurs(nodeOf('ours')), baseline, 'ours');
  const hasReference = existsSync(values.reference);
  if (!hasReference) console.log('no reference kubelet: name one with --reference=PATH or set KUBEBUILDER_ASSETS');
  const reference = hasReference
    ? await measure(() => startReference(values.reference, nodeOf('reference')), baseline, 'reference')
    : undefined;
  show('create to Running and Ready, p50', 'ms', (r) => r.createMs, ours, reference, 'ratio 0.6');
  showAgainstRaw(ours, reference);
  show(`burst of ${values.burst}, all Ready`, 'ms', (r) => r.burstMs, ours, reference, 'ratio 0.4');
  show('delete to gone, p50', 'ms', (r) => r.deleteMs, ours, reference, 'ratio 0.3');
  show(`${values.idle} idle pods, cpu of a core`, '%', (r) => r.cpuPercent, ours, reference, '1 %');
  show(`${values.idle} idle pods, rss`, 'MiB', (r) => r.rssMiB, ours, reference, '130 MiB');
  show(`${values.idle} idle pods, API requests a minute`, '', (r) => r.requestsPerMinute, ours, reference, 'the reference');
} finally {
  watch.stop();
  removeNodeDirectory(dir);
}
process.exit();
