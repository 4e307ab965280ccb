import { silentLogger } from '../../../src/base/logger.ts';
import type { ContainerStatus, Pod, PodStatus, PodUid } from '../../../src/model/pod.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import type { ProbeKind } from '../../../src/probes/probe-kind.ts';
import { ProbeResults } from '../../../src/probes/probe-results.ts';
import { ProbeWorker } from '../../../src/probes/probe-worker.ts';
import type { Probe } from '../../../src/probes/run-probe.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

interface Tick {
  readonly noStatus?: boolean;
  readonly phase?: string;
  readonly noContainer?: boolean;
  readonly containerID: string;
  readonly state: 'running' | 'waiting' | 'terminated' | 'none';
  readonly runningForSec?: number;
  readonly started: 'true' | 'false' | 'absent';
  readonly probe: 'success' | 'warning' | 'failure' | 'unknown' | 'error';
}
interface In {
  readonly type: ProbeKind;
  readonly restartPolicy: string;
  readonly probe: Probe;
  readonly ticks: readonly Tick[];
}

const uid = 'u' as PodUid;
const resultNames = { success: 'Success', failure: 'Failure', unknown: 'Unknown' };

export const run = async ({ type, restartPolicy, probe, ticks }: In): Promise<unknown> => {
  // The suite's ticks know nothing of each other: there is time between them for any of their ages.
  const clock = new FakeClock();
  let now: Tick | undefined;
  let probeRuns = 0;
  const results = new ProbeResults();
  const container = { name: 'c' };
  const pod: Pod = { metadata: { uid, name: 'p', namespace: 'n' }, spec: { restartPolicy, containers: [container] } };
  const worker = new ProbeWorker(
    {
      clock,
      log: silentLogger,
      events: { record: () => {} },
      tell: { probeTried: () => {}, probeExecuted: () => {} },
      results,
      statusOf: () => now && statusOf(now, clock.now()),
      runProbe: async () => {
        probeRuns++;
        if (now === undefined || now.probe === 'error') throw new Error('test');
        return { result: now.probe, output: 'out' };
      },
    },
    type,
    pod,
    container,
    { ...probe, exec: { command: ['x'] } },
  );
  const out: unknown[] = [];
  const ids = [...new Set(ticks.map(({ containerID }) => containerID))];
  for (const tick of ticks) {
    now = tick;
    await clock.advance(3_600_000);
    probeRuns = 0;
    const keepGoing = await worker.doProbe(new AbortController().signal);
    const found = ids.flatMap((id) => {
      const result = results.get(type, id as ContainerId);
      return result ? [[id, resultNames[result]]] : [];
    });
    out.push({ keepGoing, probeRuns, onHold: worker.onHold, results: Object.fromEntries(found) });
  }
  return out;
};

function statusOf(tick: Tick, nowMs: number): PodStatus | undefined {
  const { noStatus, phase = 'Running', noContainer, containerID, state, runningForSec = 0, started } = tick;
  if (noStatus) return undefined;
  const startedAt = new Date(nowMs - runningForSec * 1000).toISOString();
  const status: ContainerStatus = {
    name: 'c',
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    ...(containerID === '' ? {} : { containerID: `test://${containerID}` }),
    state: { running: { running: { startedAt } }, waiting: { waiting: {} }, terminated: { terminated: { exitCode: 0 } }, none: {} }[state],
    ...(started === 'absent' ? {} : { started: started === 'true' }),
  };
  return { phase, containerStatuses: noContainer ? [] : [status] };
}
