import { execFile } from 'node:child_process';
import { isAbsolute, resolve } from 'node:path';
import { momentOf } from '../../base/moment.ts';
import { parseTime } from '../../model/time.ts';
import { checkIdentity } from './check-identity.ts';
import type { Credentials, CredentialSource } from '../../ports/api-credentials.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import { LastingCredentials } from './lasting-credentials.ts';
import type { KubeconfigFields } from './parse-kubeconfig.ts';
import type { UserCredentialsDeps } from './user-credentials.ts';

/** A plugin that hangs must not hang the agent. */
const DEADLINE_MS = 30_000;
const MAX_OUTPUT_BYTES = 1 << 20;
const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `client.authentication.k8s.io/${version}`);

interface Plugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** What to tell people who do not have it. */
  readonly installHint: string;
  readonly where: string;
}

/** Credentials from a program (client-go plugin/pkg/client/auth/exec): run at the first use, after their expiry and after a refusal, once at a time. */
export function execCredentials(exec: KubeconfigFields, deps: UserCredentialsDeps): CredentialSource {
  const plugin = pluginOf(exec, deps);
  const { clock, origin } = deps;
  const lasting = new LastingCredentials(clock, async () => {
    const output = await runPlugin(plugin);
    const givenAt = momentOf(clock);
    const { credentials, expiresAtMs } = answerOf(output, plugin, origin, givenAt.dateMs);
    return { credentials, givenAt, lifeMs: expiresAtMs - givenAt.dateMs };
  });
  return { current: (signal) => lasting.current(signal), refused: () => lasting.drop() };
}

function pluginOf(exec: KubeconfigFields, { directory, origin, cluster }: UserCredentialsDeps): Plugin {
  const apiVersion = exec.text('apiVersion') ?? '';
  if (!versions.includes(apiVersion)) {
    throw new KubeconfigError('malformed', `kubeconfig ${exec.at('apiVersion')}: apiVersion: expected ${versions.join(' or ')}`);
  }
  const command = exec.text('command');
  if (command === undefined) throw new KubeconfigError('malformed', `kubeconfig ${exec.at()}: exec has no command`);
  if (exec.text('interactiveMode') === 'Always') {
    throw new KubeconfigError('malformed', `kubeconfig ${exec.at('interactiveMode')}: interactiveMode Always: the agent cannot answer it`);
  }
  const clusterInfo = exec.flag('provideClusterInfo')
    ? {
        server: cluster.server,
        'tls-server-name': cluster.tlsServerName,
        'insecure-skip-tls-verify': cluster.insecureSkipTlsVerify || undefined,
        'certificate-authority-data': cluster.caPem === undefined ? undefined : Buffer.from(cluster.caPem).toString('base64'),
        'proxy-url': cluster.proxyUrl,
        config: null,
      }
    : undefined;
  // What is undefined is left out of the JSON.
  const info = {
    kind: 'ExecCredential',
    apiVersion,
    spec: { interactive: false, cluster: clusterInfo },
  };
  return {
    apiVersion,
    // As a shell has it: a bare name is looked up in PATH, a relative path starts at the kubeconfig.
    command: command.includes('/') && !isAbsolute(command) ? resolve(directory, command) : command,
    args: exec.texts('args'),
    env: {
      ...process.env,
      ...Object.fromEntries(exec.list('env').map((pair) => [pair.text('name') ?? '', pair.text('value') ?? ''])),
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
    },
    installHint: exec.text('installHint') ?? '',
    where: `${origin}: exec plugin ${command}`,
  };
}

function runPlugin({ command, args, env, installHint, where }: Plugin): Promise<string> {
  return new Promise((done, fail) => {
    const options = { env, encoding: 'utf8', timeout: DEADLINE_MS, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES } as const;
    execFile(command, [...args], options, (error, stdout, stderr) => {
      if (error === null) {
        done(stdout);
        return;
      }
      const hint = installHint === '' ? '' : `; ${installHint.trim()}`;
      const said = stderr.trim().split('\n').slice(-3).join(' ').slice(-500);
      const why =
        error.code === 'ENOENT'
          ? `is not there${hint}`
          : error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
            ? `failed: it printed more than ${MAX_OUTPUT_BYTES} bytes`
            : error.killed === true
              ? `did not end within ${DEADLINE_MS / 1000} s`
              : `failed (${typeof error.code === 'number' ? `exit code ${error.code}` : (error.code ?? error.signal ?? 'unknown')})${said === '' ? '' : `: ${said}`}`;
      // Its cause would say the whole command line, which may hold secrets.
      fail(new KubeconfigError('unreadable', `${where} ${why}`));
    }).stdin?.end();
  });
}

function answerOf(
  output: string,
  { apiVersion, where }: Plugin,
  origin: string,
  nowMs: number,
): { credentials: Credentials; expiresAtMs: number } {
  const wrong = (why: string): KubeconfigError => new KubeconfigError('malformed', `${where}: ${why}`);
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch {
    // Its text may hold a token: not repeated.
    throw wrong('its output is not JSON');
  }
  const field = (value: unknown, name: string): unknown =>
    typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  if (field(answer, 'kind') !== 'ExecCredential') throw wrong('its output is no ExecCredential');
  if (field(answer, 'apiVersion') !== apiVersion) throw wrong(`its output is not of ${apiVersion}, which the kubeconfig asks for`);
  const status = field(answer, 'status');
  const text = (name: string): string | undefined => {
    const value = field(status, name);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [token, certificatePem, keyPem] = [text('token'), text('clientCertificateData'), text('clientKeyData')];
  if (token === undefined && certificatePem === undefined) throw wrong('its output holds neither a token nor a client certificate');
  if ((certificatePem === undefined) !== (keyPem === undefined)) throw wrong('its output holds only one of client certificate and key');
  const identity = certificatePem === undefined || keyPem === undefined ? undefined : { certificatePem, keyPem };
  if (identity !== undefined) checkIdentity(identity, `${origin}: the client certificate of its exec plugin`, nowMs);
  return {
    credentials: { identity, authorization: token === undefined ? undefined : `Bearer ${token}` },
    expiresAtMs: parseTime(text('expirationTimestamp')) ?? Number.POSITIVE_INFINITY,
  };
}
