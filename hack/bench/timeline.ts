// npm run bench -- timeline [--turns=16 --pods=30 --records=1000000]: what it costs to keep on disk what happens. A burst of pods on the
// embedded engine, each time in a process of its own, with the ring and without, turn by turn; then many records into one ring. Built first.
// Fails where the burst takes more than 3 % more CPU with it, by the medians, or the ring grows over its cap.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { StreamEntry } from '../../src/model/stream-entry.ts';
import { TimelineRing } from '../../src/timeline/timeline-ring.ts';
import { quantile } from './cluster-nodes.ts';

const CPU_BAR_PERCENT = 3;
const MIB = 1024 ** 2;
const CAP_MIB = 16;
const checkout = resolve(import.meta.dirname, '../..');

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    turns: { type: 'string', default: '16' },
    pods: { type: 'string', default: '30' },
    records: { type: 'string', default: '1000000' },
  },
});

/** Milliseconds of CPU of the whole process so far, all its threads. */
const cpuMs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  );

/** Milliseconds of CPU, from the declaration of the pods until they run and all is written, which the ring does within a second. */
async function burst(maxMib: number): Promise<number> {
  const root = mkdtempSync(join(tmpdir(), 'rxlet-bench-'));
  const manifests = join(root, 'manifests');
  mkdirSync(manifests);
  const directories = [`--root-dir=${root}`, `--cert-dir=${join(root, 'pki')}`, `--pod-manifest-path=${manifests}`];
  const flags = ['--docker-endpoint=fake://', '--enable-server=false', '--file-check-frequency=1s', `--timeline-max-mib=${maxMib}`];
  const agent = spawn(join(checkout, 'bin/rxlet'), [...directories, ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  agent.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const running = (): number => log.split('"to":"Running"').length - 1;
  try {
    await systemClock.sleep(2_500);
    const { pid = 0 } = agent;
    const before = cpuMs(pid);
    for (let n = 0; n < Number(values.pods); n++) {
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `p${n}` }, spec: { containers: [{ name: 'app', image: 'nginx:1' }] } };
      writeFileSync(join(manifests, `p${n}.json`), JSON.stringify(pod));
    }
    while (running() < Number(values.pods)) await systemClock.sleep(50, AbortSignal.timeout(30_000));
    await systemClock.sleep(1_500);
    return cpuMs(pid) - before;
  } finally {
    agent.kill();
    if (agent.exitCode === null) await once(agent, 'exit');
    rmSync(root, { recursive: true, force: true });
  }
}

async function costsLittle(): Promise<boolean> {
  const [on, off]: [number[], number[]] = [[], []];
  // Neither is always the first.
  for (let turn = 0; turn < Number(values.turns); turn++)
    for (const maxMib of turn % 2 === 0 ? [CAP_MIB, 0] : [0, CAP_MIB]) (maxMib > 0 ? on : off).push(await burst(maxMib));
  const [kept, notKept] = [quantile(on, 0.5), quantile(off, 0.5)];
  const more = (kept / notKept - 1) * 100;
  console.log(
    `burst of ${values.pods} pods, CPU: ${kept.toFixed(1)} ms with the ring, ${notKept.toFixed(1)} ms without, ${more.toFixed(1)} % more (bar ${CPU_BAR_PERCENT})`,
  );
  return more <= CPU_BAR_PERCENT;
}

async function staysUnderCap(): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'rxlet-bench-'));
  const ring = new TimelineRing({ directory, maxBytes: CAP_MIB * MIB, clock: systemClock, log: silentLogger });
  const records = Number(values.records);
  let most = 0;
  const before = process.cpuUsage();
  try {
    for (let seq = 1; seq <= records; seq++) {
      ring.add(aRecord(seq));
      if (seq % 2_000 !== 0) continue;
      await ring.flush();
      most = Math.max(
        most,
        readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0),
      );
    }
    await ring.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const { user, system } = process.cpuUsage(before);
  const each = ((user + system) / records).toFixed(1);
  console.log(`${records} records: at most ${(most / MIB).toFixed(2)} MiB on disk (cap ${CAP_MIB}), ${each} us of CPU each`);
  return most <= CAP_MIB * MIB;
}

const aRecord = (seq: number): StreamEntry => ({
  seq,
  atMs: systemClock.now(),
  stream: 'reconcile',
  level: 4,
  message: 'reconciled',
  pod: 'default/web',
  fields: {
    woken: ['engine event'],
    life: 'syncing',
    because: ['pod is as declared'],
    actions: [{ do: 'prepare', tookMs: 1 }],
    next: { afterMs: 60_000 },
  },
});

execFileSync(process.execPath, [join(checkout, 'hack/build.ts')], { stdio: ['ignore', 'ignore', 'inherit'] });
const results = [await costsLittle(), await staysUnderCap()];
process.exitCode = results.every(Boolean) ? 0 : 1;
