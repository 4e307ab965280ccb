import type { Clock } from '../base/clock.ts';
import { withDeadline } from '../base/with-deadline.ts';
import { type ContainerId, containerIdOf } from '../model/container-id.ts';
import type { ContainerStatus, PodStatus } from '../model/pod.ts';
import type { ContainerAccess } from '../ports/container-access.ts';

const MOST_LINES = 5;
const MOST_BYTES = 4_096;
const MOST_CONTAINERS = 10;
const WITHIN_MS = 2_000;

/** The last lines of the containers that have ended or are not ready, by name. What cannot be read within two seconds is left out. Never rejects. */
export async function lastLines(
  status: PodStatus | undefined,
  access: Pick<ContainerAccess, 'logs'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { containerStatuses = [], initContainerStatuses = [] } = status ?? {};
  const asked = [...initContainerStatuses, ...containerStatuses].flatMap((each) => {
    const id = tellingInstance(each);
    return id === undefined ? [] : [{ name: each.name, id }];
  });
  const found = await Promise.all(
    asked.slice(0, MOST_CONTAINERS).map(async ({ name, id }) => [name, await linesOf(id, access, clock, signal)] as const),
  );
  return new Map(found.filter(([, lines]) => lines.length > 0));
}

/** Whose last words tell something; undefined: it is well, or has none. */
function tellingInstance({ state, lastState, ready, restartCount, containerID }: ContainerStatus): ContainerId | undefined {
  const ended = state?.terminated ?? lastState?.terminated;
  const hasFailed = ended !== undefined && (ended.exitCode !== 0 || restartCount > 0);
  const id = hasFailed ? (ended.containerID ?? containerID) : state?.running && !ready ? containerID : undefined;
  return id === undefined || id === '' ? undefined : containerIdOf(id);
}

async function linesOf(
  id: ContainerId,
  access: Pick<ContainerAccess, 'logs'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    return await withDeadline(clock, WITHIN_MS, 'reading the log', signal, async (within) => {
      let text = '';
      for await (const { bytes } of access.logs(id, { follow: false, timestamps: false, tailLines: MOST_LINES }, within)) {
        text = (text + Buffer.from(bytes).toString()).slice(-MOST_BYTES);
      }
      return text.split('\n').filter((line) => line.trim() !== '');
    });
  } catch {
    // It is gone, or the engine is: the rest is explained without it.
    return [];
  }
}
