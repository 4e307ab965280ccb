import { expandAll, lookupIn } from '../model/expansion.ts';
import type { Container } from '../model/pod.ts';
import type { ContainerAccess } from '../ports/container-access.ts';
import type { ContainerId } from '../ports/container-runtime.ts';
import { execOnce, type ExecOnceOptions, ExecTimeoutError } from '../ports/exec-once.ts';
import { formatGoDuration } from '../model/go-duration.ts';
import type { ProbeOutcome } from './probe-outcome.ts';

/** Exit code 0 is success; no end in time is failure (pkg/probe/exec with ExecProbeTimeout). Rejects when the command cannot be run. */
export async function execProbe(
  access: Pick<ContainerAccess, 'exec'>,
  id: ContainerId,
  command: readonly string[],
  options: ExecOnceOptions,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  try {
    const { exitCode, output } = await execOnce(access, id, command, options, signal);
    return { result: exitCode === 0 ? 'success' : 'failure', output };
  } catch (error) {
    if (!(error instanceof ExecTimeoutError)) throw error;
    return { result: 'failure', output: `${error.message} after ${formatGoDuration(BigInt(error.timeoutMs) * 1_000_000n)}` };
  }
}

/** `$(NAME)` of the container's variables, of which those with a valueFrom are empty here (ExpandContainerCommandOnlyStatic in pkg/kubelet/container). */
export function expandProbeCommand(command: readonly string[] | undefined, { env }: Pick<Container, 'env'>): readonly string[] {
  const lookup = lookupIn(new Map((env ?? []).map(({ name, value }) => [name, value ?? ''])));
  return expandAll(command ?? [], lookup);
}
