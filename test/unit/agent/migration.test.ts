import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { endRecords } from '../../../src/agent/end-records.ts';
import { ResourceRecords } from '../../../src/agent/reconcile/resource-records.ts';
import { restartMarks } from '../../../src/agent/reconcile/restart-marks.ts';
import { stateFiles } from '../../../src/agent/state-files.ts';
import { SandboxLedger } from '../../../src/engines/cni/sandbox-ledger.ts';
import { drivenEngineFile } from '../../../src/engines/driven-engine.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import type { ContainerId, SandboxId } from '../../../src/ports/container-runtime.ts';
import type { StateFiles } from '../../../src/ports/state-files.ts';
import { PassedProbesFile } from '../../../src/probes/passed-probes-file.ts';
import { ShutdownTimes } from '../../../src/shutdown/shutdown-times.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const uid = 'b67ad4bc-aec5-44cc-8ec1-a3aba1bdd9be' as PodUid;
const POD = `pods/${uid}`;
const limits = { limits: { memory: '64Mi' } };

interface Root {
  readonly dir: string;
  readonly files: StateFiles;
  readonly podFiles: (uid: PodUid) => StateFiles;
  readonly clock: FakeClock;
  readonly log: RecordingLogger;
}

interface Form {
  readonly file: string;
  /** As agents before wrote it, the oldest first. A form stays here for good once agents have written it. */
  readonly texts: readonly string[];
  readonly load: (root: Root) => unknown;
  readonly means: unknown;
  /** Of the agent's own, and not of Kubernetes or of another program: says its version. */
  readonly version?: number;
  /** What an agent goes on with that finds a newer version. */
  readonly without?: unknown;
}

const forms: readonly Form[] = [
  {
    file: 'passed_probes.json',
    texts: ['{"readiness":["c1"],"startup":["c2"]}', '{"version":1,"readiness":["c1"],"startup":["c2"]}'],
    load: ({ files, clock, log }) => new PassedProbesFile(files, { clock, log }).load(),
    means: { readiness: ['c1'], startup: ['c2'] },
    version: 1,
    without: { readiness: [], startup: [] },
  },
  {
    file: 'driven_engine.json',
    texts: [
      '{"endpoint":"unix:///run/docker.sock","speaks":"docker","name":"Docker"}',
      '{"version":1,"endpoint":"unix:///run/docker.sock","speaks":"docker","name":"Docker"}',
    ],
    load: ({ files }) => drivenEngineFile(files).load(),
    means: { endpoint: 'unix:///run/docker.sock', speaks: 'docker', name: 'Docker' },
    version: 1,
  },
  {
    file: `${POD}/end.json`,
    texts: [
      '{"reason":"Evicted","message":"low on memory","graceSeconds":0}',
      '{"version":1,"reason":"Evicted","message":"low on memory","graceSeconds":0}',
    ],
    load: ({ podFiles, clock, log }) => endRecords(podFiles, clock, log).load(uid),
    means: { reason: 'Evicted', message: 'low on memory', condition: undefined, graceSeconds: 0 },
    version: 1,
  },
  {
    file: `${POD}/resources.json`,
    texts: [
      `{"allocation":{"containers":{"app":${JSON.stringify(limits)}}},"actuated":{"app":${JSON.stringify(limits)}}}`,
      `{"version":1,"allocation":{"containers":{"app":${JSON.stringify(limits)}}},"actuated":{"app":${JSON.stringify(limits)}}}`,
    ],
    load: ({ podFiles, clock, log }) => new ResourceRecords(podFiles, clock, log).load(uid),
    means: { allocation: { pod: undefined, containers: new Map([['app', limits]]) }, actuated: new Map([['app', limits]]) },
    version: 1,
  },
  {
    file: 'graceful_node_shutdown_state',
    texts: ['{"startTime":"2026-11-24T10:00:00Z","endTime":"2026-11-24T10:00:09Z"}'],
    load: ({ files, clock, log }) => new ShutdownTimes(files, { clock, log }).load(),
    means: { startedAtMs: Date.UTC(2026, 10, 24, 10), endedAtMs: Date.UTC(2026, 10, 24, 10, 0, 9) },
  },
  {
    file: 'sandbox-networks/s1',
    texts: ['{"name":"web","namespace":"default","connected":true}'],
    load: ({ dir }) => new SandboxLedger(join(dir, 'sandbox-networks')).entries(),
    means: new Map([['s1' as SandboxId, { name: 'web', namespace: 'default', connected: true }]]),
  },
  {
    file: `${POD}/containers/app/restarting`,
    texts: ['c1'],
    load: ({ dir, log }) => restartMarks(dir, log).load(uid),
    means: new Map([['app', 'c1' as ContainerId]]),
  },
];

const made: string[] = [];
after(() => made.forEach((dir) => rmSync(dir, { recursive: true })));

function rootWith(file: string, text: string): Root {
  const dir = mkdtempSync(join(tmpdir(), 'migration-'));
  made.push(dir);
  mkdirSync(dirname(join(dir, file)), { recursive: true });
  writeFileSync(join(dir, file), text);
  const log = new RecordingLogger();
  return {
    dir,
    log,
    files: stateFiles(dir, { log }),
    podFiles: (of) => stateFiles(join(dir, 'pods', of), { log }),
    clock: new FakeClock(),
  };
}

for (const { file, texts, load, means, version, without } of forms)
  describe(`${file} of an agent before`, () => {
    for (const text of texts)
      test(`is gone on with: ${text}`, async () => {
        const root = rootWith(file, text);
        assert.deepEqual(await load(root), means);
        assert.deepEqual(root.log.lines, []);
      });

    if (version !== undefined)
      test('is kept, and done without, where the agent was a newer one', async () => {
        const newer = JSON.stringify({ version: version + 1, unknown: true });
        const root = rootWith(file, newer);
        assert.deepEqual(await load(root), without);
        assert.equal(readFileSync(join(root.dir, `${file}.version-${version + 1}`), 'utf8'), newer);
        assert.deepEqual(
          root.log.lines.map(({ message }) => message),
          ['state file of a newer agent set aside'],
        );
      });
  });

/** What opens a state file by name: each is in the table above, or has its form from Kubernetes, which has tests of its own. */
test('there is no other state file', () => {
  const sources = join(import.meta.dirname, '../../../src');
  const opens = /(?:files|podFiles\(uid\))\.open(?:<\w+>)?\(([^,]+),|new PodRecords\(\{[^}]*?name: ([^,]+),/gi;
  const named = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...readFileSync(join(sources, name), 'utf8').matchAll(opens)])
    .map(([, file, record]) => (file ?? record ?? '').replaceAll("'", ''));
  const own = forms.filter(({ version }) => version !== undefined).map(({ file }) => file.split('/').at(-1));
  const ofKubernetes = ['CHECKPOINT', 'CLAIM_STATE_FILE', 'CPU_STATE_FILE', 'MEMORY_STATE_FILE', 'FILE', 'graceful_node_shutdown_state'];
  assert.deepEqual(new Set(named), new Set([...own, ...ofKubernetes]));
});
