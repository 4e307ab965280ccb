import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { quote } from '../model/go-text.ts';
import { type Container, formatPod, type Pod } from '../model/pod.ts';
import type { ContainerAccess } from '../ports/container-access.ts';
import type { ContainerId } from '../ports/container-runtime.ts';
import { execOnce } from '../ports/exec-once.ts';
import type { GoUrl } from './go-url.ts';
import { httpGet } from './http-get.ts';
import { withDefaults } from './http-probe.ts';
import { probeHeaders, type ProbeHeaders, probePort, probeUrl } from './probe-request.ts';
import { tcpProbe } from './tcp-probe.ts';

export type Hook = NonNullable<NonNullable<Container['lifecycle']>['postStart']>;

export interface HookTarget {
  readonly pod: Pod;
  readonly container: Container;
  readonly id: ContainerId;
}

export interface RunHookDeps {
  readonly clock: Clock;
  readonly access: Pick<ContainerAccess, 'exec'>;
  /** Where the pod's servers listen; undefined: it has no address. */
  readonly podIp: (pod: Pod, signal: AbortSignal) => Promise<string | undefined>;
  /** "kube-lifecycle/1.36" */
  readonly userAgent: string;
}

/** Nothing else bounds a connection that is never answered. */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Runs a hook to its end (pkg/kubelet/lifecycle). Resolves with why it failed, in the kubelet's words; undefined: it did not. Rejects with
 * the signal's reason only. An answer over HTTP is a success whatever its status.
 */
export async function runHook(hook: Hook, target: HookTarget, deps: RunHookDeps, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await run(hook, target, deps, signal);
  } catch (error) {
    signal.throwIfAborted();
    return failure(hook, target, errorText(error), '');
  }
}

async function run(hook: Hook, target: HookTarget, deps: RunHookDeps, signal: AbortSignal): Promise<string | undefined> {
  const { clock, access } = deps;
  if (hook.exec) {
    const command = hook.exec.command ?? [];
    const { exitCode, output } = await execOnce(access, target.id, command, { clock }, signal);
    if (exitCode === 0) return undefined;
    return failure(hook, target, `command '${command.join(' ')}' exited with ${exitCode}: ${output}`, output);
  }
  if (hook.httpGet) return runHttpGet(hook.httpGet, target, deps, signal);
  if (hook.tcpSocket) {
    const { host, port } = hook.tcpSocket;
    const timeoutMs = CONNECT_TIMEOUT_MS;
    const { result, output } = await tcpProbe(
      await hostOf(host, target, deps, signal),
      probePort(port, target.container),
      { clock, timeoutMs },
      signal,
    );
    return result === 'success' ? undefined : failure(hook, target, output, '');
  }
  if (hook.sleep) {
    await clock.sleep(hook.sleep.seconds * 1000, signal);
    return undefined;
  }
  return 'Cannot run handler: invalid handler: it says neither exec, httpGet, tcpSocket nor sleep';
}

type HttpGetAction = NonNullable<Hook['httpGet']>;

async function runHttpGet(action: HttpGetAction, target: HookTarget, deps: RunHookDeps, signal: AbortSignal): Promise<undefined> {
  const host = await hostOf(action.host, target, deps, signal);
  const port = action.port === '' ? 80 : probePort(action.port, target.container);
  const url = probeUrl((action.scheme ?? 'HTTP').toLowerCase(), host, port, action.path ?? '');
  const headers: ProbeHeaders = withDefaults(probeHeaders(action.httpHeaders), deps.userAgent);
  const get = (at: GoUrl): Promise<unknown> => httpGet(at, headers, { clock: deps.clock, timeoutMs: 0, follow: 'any host' }, signal);
  try {
    await get(url);
  } catch (error) {
    // Hooks once spoke HTTP whatever they said: those that rely on it go on (ConsistentHTTPGetHandlers).
    if (url.scheme !== 'https' || !errorText(error).includes('server gave HTTP response to HTTPS client')) throw error;
    await get({ ...url, scheme: 'http' });
  }
}

async function hostOf(host: string | undefined, { pod }: HookTarget, { podIp }: RunHookDeps, signal: AbortSignal): Promise<string> {
  const found = host || (await podIp(pod, signal));
  if (!found) throw new Error('failed to find networking container: the pod has no address');
  return found;
}

function failure({ exec, httpGet: get, sleep }: Hook, { pod, container }: HookTarget, error: string, output: string): string {
  const what = exec
    ? `Exec lifecycle hook ([${(exec.command ?? []).join(' ')}])`
    : get
      ? `Http lifecycle hook (${get.path ?? ''})`
      : sleep
        ? 'Sleep lifecycle hook'
        : 'TCP lifecycle hook';
  return `${what} for Container ${quote(container.name)} in Pod ${quote(formatPod(pod))} failed - error: ${error}, message: ${quote(output)}`;
}
