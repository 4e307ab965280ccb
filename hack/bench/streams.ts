// npm run bench -- streams [--rounds=7 --exec-mib=100 --log-mib=1024 --mixed-mib=64 --followers=100 --connections=100 --only=exec,cp,...
// --cluster=DIR --engine=DIR --reference-engine=DIR --reference=PATH]: what flows through the node's server, with kubectl and one API
// server. This agent and the reference kubelet are two nodes with an engine each, measured turn by turn, so that whatever else the machine
// does falls on both. Bars are ratios to the reference.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ApiClient } from './api-client.ts';
import { type ClusterNode, hack, nodeReady, pause, quantile, removeNodeDirectory, startOurs, startReference } from './cluster-nodes.ts';
import { Kubectl } from './kubectl.ts';
import { LogFollowers } from './log-followers.ts';
import type { NodeProcess } from './node-process.ts';
import { PodWatch, PODS } from './pod-watch.ts';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    'exec-mib': { type: 'string', default: '100' },
    'log-mib': { type: 'string', default: '1024' },
    'mixed-mib': { type: 'string', default: '64' },
    followers: { type: 'string', default: '100' },
    connections: { type: 'string', default: '100' },
    only: { type: 'string', default: 'exec,cp,logs,mixed,followers,port-forward' },
    cluster: { type: 'string', default: '/var/lib/rxlet-test-cluster' },
    engine: { type: 'string', default: '/var/lib/rxlet-test-engine' },
    'reference-engine': { type: 'string', default: '/var/lib/rxlet-test-engine-reference' },
    /** The kubelet to compare with: a version that still speaks to Docker by itself. Empty: none. */
    reference: { type: 'string', default: join(process.env['KUBEBUILDER_ASSETS'] ?? '', 'kubelet') },
  },
});
const MIB = 1 << 20;
const EXEC_BYTES = Number(values['exec-mib']) * MIB;
const LOG_BYTES = Number(values['log-mib']) * MIB;
const MIXED_BYTES = Number(values['mixed-mib']) * MIB;
const HTTP_PORT = 8080;
const PAGE_BYTES = 64 << 10;
const LINE = 'x'.repeat(99);
const LAST_LINE = 'that is all';
const TICK_MS = 10;
const asked = new Set(values.only.split(','));

const dir = mkdtempSync(join(tmpdir(), 'rxlet-bench-streams-'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

interface Side {
  readonly who: 'ours' | 'reference';
  readonly pod: string;
  readonly node: ClusterNode;
  readonly start: () => NodeProcess;
}

function sideOf(who: Side['who'], engineDir: string, start: (node: ClusterNode) => NodeProcess): Side {
  const name = `bench-${who}`;
  const node: ClusterNode = {
    name,
    endpoint: hack('docker.sh', 'up', engineDir),
    kubeconfig: hack('kube.sh', 'node', values.cluster, name),
    dir: join(dir, who),
    alone: false,
    config: {
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: join(values.cluster, 'pki/ca.crt') },
      },
      authorization: { mode: 'Webhook' },
      failSwapOn: false,
      oomScoreAdj: 0,
      evictionHard: {},
      // There are two on this machine, and one would remove the other's cgroups.
      cgroupsPerQOS: false,
      enforceNodeAllocatable: [],
      containerLogMaxSize: '4Gi',
      // Of two, at least one has to move.
      port: who === 'ours' ? 10_450 : 10_451,
      healthzPort: 0,
    },
  };
  return { who, pod: `streams-${who}`, node, start: () => start(node) };
}

/** One container for each thing to be measured; none does anything before it is asked, and nothing after. */
function manifest({ pod, node }: Side): unknown {
  const data = { name: 'data', mountPath: '/data' };
  const container = (name: string, script: string): unknown => ({
    name,
    image: 'busybox:1.35',
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', `trap 'exit 0' TERM; ${script}; sleep 100000 & wait`],
    volumeMounts: [data],
  });
  const lines = (bytes: number): string => `yes ${LINE} | head -c ${bytes - LAST_LINE.length - 2}; echo; echo ${LAST_LINE}`;
  const mixedLines = Math.floor(MIXED_BYTES / 200);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: pod },
    spec: {
      nodeName: node.name,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      tolerations: [{ operator: 'Exists' }],
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [
        // Written with few calls and read with few, as what is measured is not busybox.
        container(
          'app',
          `dd if=/dev/zero of=/data/much bs=1M count=${values['exec-mib']}; head -c ${PAGE_BYTES} /data/much >/data/page; httpd -p ${HTTP_PORT} -h /data`,
        ),
        container('log', lines(LOG_BYTES)),
        container(
          'mixed',
          `i=0; while [ $i -lt ${mixedLines} ]; do echo ${LINE}; echo ${LINE} >&2; i=$((i+1)); done; sleep 2; echo ${LAST_LINE}`,
        ),
        container('tick', `until [ -e /data/tick ]; do sleep 1; done; while :; do echo ${LINE}; usleep ${TICK_MS * 1000}; done`),
      ],
    },
  };
}

const progress = (text: string): void => console.error(`${text} ...`);

const logPath = ({ pod }: Side, container: string, query: string): string => `${PODS}/${pod}/log?container=${container}&${query}`;

async function written(side: Side, container: string): Promise<void> {
  for (;;) {
    const last = await api.call('GET', logPath(side, container, 'tailLines=1')).catch(() => '');
    if (last.endsWith(`${LAST_LINE}\n`)) return;
    await pause(1000);
  }
}

/** Turn by turn, each side first as often as the other. The first round warms up and does not count. */
async function compare(what: string, mib: number, measure: (side: Side) => Promise<number>, rounds = Number(values.rounds)): Promise<void> {
  const seconds: Record<Side['who'], number[]> = { ours: [], reference: [] };
  const cpu: Record<Side['who'], number[]> = { ours: [], reference: [] };
  for (let round = 0; round <= rounds; round++) {
    for (const { side, agent } of round % 2 === 0 ? agents : agents.toReversed()) {
      const before = agent.cpuSeconds();
      const took = await measure(side);
      if (round === 0) continue;
      seconds[side.who].push(took);
      cpu[side.who].push(agent.cpuSeconds() - before);
    }
  }
  const told = (who: Side['who']): string =>
    `${(mib / quantile(seconds[who], 0.5)).toFixed(0)} MiB/s, ${((quantile(cpu[who], 0.5) / mib) * 1024).toFixed(1)} s of cpu a GiB`;
  const ratios = seconds.ours.map((took, i) => (seconds.reference[i] ?? Number.NaN) / took);
  const compared = `; reference ${told('reference')}; ratio ${quantile(ratios, 0.5).toFixed(2)} (bar 0.8), by round ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}`;
  console.log(`${what}: ${told('ours')}${sides.length > 1 ? compared : ''}`);
}

async function follow(what: string, container: string, query: string, slow: boolean, seconds: number): Promise<void> {
  const count = Number(values.followers);
  for (const { side, agent } of agents) {
    // What went before is collected by the way.
    await pause(5000);
    const before = agent.rssMiB();
    let peak = before;
    const cpu = agent.cpuSeconds();
    const followers = await LogFollowers.start(api, logPath(side, container, `follow=true&${query}`), count, slow);
    for (let i = 0; i < seconds * 4; i++) {
      await pause(250);
      peak = Math.max(peak, agent.rssMiB());
    }
    const during = agent.rssMiB();
    const cores = (agent.cpuSeconds() - cpu) / seconds;
    followers.stop();
    await pause(5000);
    const after = agent.rssMiB();
    if (followers.heard.size < count) throw new Error(`only ${followers.heard.size} of ${count} followers heard anything`);
    console.log(
      `${what}, ${side.who}: rss before ${before.toFixed(0)}, peak ${peak.toFixed(0)}, at the end ${during.toFixed(0)}, after ${after.toFixed(0)} MiB: ` +
        `grew by ${(peak - before).toFixed(0)} MiB (bar 50 for ours); ${(followers.bytes / MIB / seconds).toFixed(1)} MiB/s read, ${(cores * 100).toFixed(0)} % of a core`,
    );
  }
}

function fetchPage(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const req = get({ host: '127.0.0.1', port, path: '/page', agent: false }, (res) => {
      let bytes = 0;
      res.on('data', (chunk: Buffer) => (bytes += chunk.length));
      res.on('end', () => resolve(bytes));
      res.on('error', reject);
    });
    req.on('error', reject);
  });
}

async function forward(): Promise<void> {
  const count = Number(values.connections);
  for (const { side } of agents) {
    const took: number[] = [];
    const forwarded = await kubectl.portForward(side.pod, HTTP_PORT);
    try {
      for (let round = 0; round <= Number(values.rounds); round++) {
        const at = performance.now();
        const pages = await Promise.all(Array.from({ length: count }, () => fetchPage(forwarded.port)));
        if (pages.some((bytes) => bytes !== PAGE_BYTES)) throw new Error('a page came in part');
        if (round > 0) took.push(performance.now() - at);
      }
      console.log(`port-forward, ${count} connections at once, 64 KiB each, ${side.who}: ${quantile(took, 0.5).toFixed(0)} ms`);
    } catch (error) {
      // The reference needs socat on the node.
      console.log(`port-forward, ${side.who}: does not work: ${String(error)}`);
    } finally {
      forwarded.stop();
    }
  }
}

hack('kube.sh', 'up', values.cluster);
const api = new ApiClient(join(values.cluster, 'admin.kubeconfig'));
const kubectl = new Kubectl(join(values.cluster, 'admin.kubeconfig'));
const sides = [sideOf('ours', values.engine, startOurs)];
if (existsSync(values.reference)) {
  sides.push(sideOf('reference', values['reference-engine'], (node) => startReference(values.reference, node)));
} else console.log('no reference kubelet: name one with --reference=PATH or set KUBEBUILDER_ASSETS');
const watch = await PodWatch.start(api);
const agents: { readonly side: Side; readonly agent: NodeProcess }[] = [];
const file = join(dir, 'file');

try {
  writeFileSync(file, Buffer.alloc(EXEC_BYTES, LINE));
  for (const side of sides) agents.push({ side, agent: side.start() });
  progress('waiting for the nodes');
  for (const { node } of sides) await nodeReady(api, node.name);
  for (const side of sides) {
    // Of a run that was broken off.
    await api.call('DELETE', `${PODS}/${side.pod}?gracePeriodSeconds=0`).catch(() => undefined);
    const ready = watch.told('ready', side.pod);
    await api.call('POST', PODS, manifest(side));
    await ready;
  }
  progress('waiting for the logs to be written');
  for (const side of sides) {
    await written(side, 'log');
    await written(side, 'mixed');
  }
  // Engines write what they hold, agents look round.
  await pause(5000);

  if (asked.has('exec')) {
    await compare(`exec, ${values['exec-mib']} MiB out`, EXEC_BYTES / MIB, ({ pod }) =>
      kubectl.seconds(['exec', pod, '-c', 'app', '--', 'cat', '/data/much'], EXEC_BYTES),
    );
  }
  if (asked.has('cp')) {
    await compare(`cp, ${values['exec-mib']} MiB in`, EXEC_BYTES / MIB, async ({ pod }) => {
      const took = await kubectl.seconds(['cp', file, `${pod}:/data/copy`, '-c', 'app']);
      await kubectl.seconds(['exec', pod, '-c', 'app', '--', 'sh', '-c', `[ $(stat -c %s /data/copy) = ${EXEC_BYTES} ] && rm /data/copy`]);
      return took;
    });
  }
  if (asked.has('logs')) {
    const rounds = Math.min(3, Number(values.rounds));
    await compare(
      `logs, ${values['log-mib']} MiB`,
      LOG_BYTES / MIB,
      ({ pod }) => kubectl.seconds(['logs', pod, '-c', 'log'], LOG_BYTES),
      rounds,
    );
  }
  if (asked.has('mixed')) {
    const bytes = Math.floor(MIXED_BYTES / 200) * 200 + LAST_LINE.length + 1;
    await compare(`logs, ${values['mixed-mib']} MiB, stdout and stderr in turn`, bytes / MIB, ({ pod }) =>
      kubectl.seconds(['logs', pod, '-c', 'mixed'], bytes),
    );
  }
  if (asked.has('followers')) {
    await follow(`${values.followers} slow followers of ${values['log-mib']} MiB`, 'log', '', true, 20);
    for (const { pod } of sides) await kubectl.seconds(['exec', pod, '-c', 'app', '--', 'touch', '/data/tick']);
    await follow(`${values.followers} followers of what is being written`, 'tick', '', false, 20);
  }
  if (asked.has('port-forward')) await forward();
} finally {
  progress('cleaning up');
  for (const { pod } of sides) {
    const gone = watch.told('gone', pod);
    await api.call('DELETE', `${PODS}/${pod}`).then(() => Promise.race([gone, pause(30_000)]), console.error);
  }
  for (const { agent } of agents) await agent.stop();
  watch.stop();
  for (const { node } of sides) {
    await api.call('DELETE', `/api/v1/nodes/${node.name}`).catch(console.error);
    removeNodeDirectory(node.dir);
  }
  rmSync(dir, { recursive: true, force: true });
}
process.exit();
