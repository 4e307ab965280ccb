import type { V1PodSpec } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import type { ScriptedRegistry } from '../../fakes/scripted-registry.ts';
import type { AgentUnderTest } from '../agent/agent-under-test.ts';
import { app, pod, stays } from '../agent/pod-specs.ts';

export interface SickPod {
  readonly spec?: V1PodSpec;
  readonly metadata?: object;
  /** What lies beside it: text by file. */
  readonly files?: Readonly<Record<string, string>>;
  /** What befalls it once it is declared. */
  readonly befalls?: (name: string) => Promise<void>;
  /** What is asked about; its name by default. */
  readonly ask?: string;
  /** The true cause. */
  readonly says: RegExp;
}

/** What lies around them. */
export interface SickWorld {
  readonly registry: ScriptedRegistry;
  readonly agent: AgentUnderTest;
  /** Resolves once the pod is explained as running well. */
  readonly isUp: (pod: string) => Promise<unknown>;
  /** Another process listens there. */
  readonly takenPort: number;
  /** Another process is in this volume of the pod. */
  readonly hold: (pod: string, volume: string) => Promise<void>;
}

const object = (kind: 'ConfigMap' | 'Secret', name: string, data: object): string =>
  stringify({ apiVersion: 'v1', kind, metadata: { name }, data });
const never = { restartPolicy: 'Never' } as const;
const http = (path: string) => ({ httpGet: { path, port: 1 }, periodSeconds: 1, timeoutSeconds: 30 });
const pulled = (image: string): V1PodSpec => pod([app(stays, { image, imagePullPolicy: 'Always' })]);

/** Pods that do not disturb each other, and what is the matter with each. */
export function sickPods({ registry, agent, isUp, takenPort = 0, hold }: Partial<SickWorld> = {}): Readonly<Record<string, SickPod>> {
  const host = registry?.host ?? '';
  const env = (valueFrom: object): V1PodSpec => pod([app(stays, { env: [{ name: 'V', valueFrom }] })]);
  return {
    'bad-image': { spec: pulled('127.0.0.1:1/BAD::image'), says: /image name .* invalid/ },
    'bad-tag': { spec: pulled(`${host}/test/app:nope`), says: /cannot be pulled: the registry has no such image or tag/ },
    'registry-down': { spec: pulled('127.0.0.1:1/app:1'), says: /cannot be pulled: the registry cannot be reached/ },
    'missing-secret': { spec: env({ secretKeyRef: { name: 'not-there', key: 'k' } }), says: /Secret not-there is not found/ },
    'missing-secret-volume': {
      spec: pod([app(stays, { volumeMounts: [{ name: 'creds', mountPath: '/c' }] })], {
        volumes: [{ name: 'creds', secret: { secretName: 'not-there' } }],
      }),
      says: /Volume creds cannot be mounted: .*not-there is not found/i,
    },
    'missing-key': {
      files: { 'object.yaml': object('ConfigMap', 'half', { a: '1' }) },
      spec: env({ configMapKeyRef: { name: 'half', key: 'b' } }),
      says: /key b is missing in ConfigMap default\/half/,
    },
    'failing-liveness': {
      spec: pod([
        app(stays, {
          livenessProbe: {
            exec: { command: ['sh', '-c', 'echo no life here; exit 3'] },
            periodSeconds: 1,
            failureThreshold: 1,
            timeoutSeconds: 30,
          },
        }),
      ]),
      says: /liveness probe of container app fails: no life here|because its liveness probe fails: no life here/,
    },
    'never-ready': {
      spec: pod([app(stays, { readinessProbe: http('/ready') })]),
      says: /is not ready: its readiness probe fails: .*connection refused/,
    },
    'crash-loop': {
      spec: pod([app('echo cannot find my settings >&2; exit 3')]),
      says: /crashes: exit code 3 (?:at once|after \d+ s): cannot find my settings/,
    },
    'out-of-memory': {
      spec: pod([app('tail /dev/zero', { command: ['tail', '/dev/zero'], resources: { limits: { memory: '16Mi' } } })]),
      says: /ran out of memory \(OOMKilled\): its limit is 16Mi/,
    },
    'init-stuck': {
      spec: pod([app()], { initContainers: [app(stays, { name: 'setup' })] }),
      says: /Init container setup still runs: the other containers wait/i,
    },
    'init-crashes': {
      spec: pod([app()], { initContainers: [app('echo no database; exit 2', { name: 'setup' })] }),
      says: /init container setup crashes: exit code 2.*no database/i,
    },
    'hook-failing': {
      spec: pod([app(stays, { lifecycle: { postStart: { exec: { command: ['sh', '-c', 'exit 7'] } } } })]),
      says: /postStart hook of container app fails/,
    },
    'no-resources': {
      spec: pod([app(stays, { resources: { requests: { memory: '900Gi' } } })]),
      metadata: {},
      says: /may not run here: there is not enough memory on this node/,
    },
    'node-selector': {
      spec: pod([app()], { nodeSelector: { disk: 'golden' } }),
      says: /may not run here: its node selector or affinity does not match/,
    },
    deadline: { spec: pod([app()], { activeDeadlineSeconds: 1 }), says: /ran longer than activeDeadlineSeconds \(1 s\) allows/ },
    'exec-format': {
      files: { 'object.yaml': object('ConfigMap', 'programs', { prog: 'no program at all' }) },
      spec: pod([app('', { command: ['/p/prog'], volumeMounts: [{ name: 'p', mountPath: '/p' }] })], {
        volumes: [{ name: 'p', configMap: { name: 'programs', defaultMode: 0o755 } }],
      }),
      says: /exec \/p\/prog: exec format error|not for this machine \(exec format error\)/,
    },
    'read-only': {
      spec: pod([app('touch /data/x', { command: ['sh', '-c', 'touch /x'], securityContext: { readOnlyRootFilesystem: true } })]),
      says: /crashes: exit code 1 (?:at once|after \d+ s): touch: \/x: Read-only file system/,
    },
    'command-not-found': { spec: pod([app('', { command: ['no-such-program'] })]), says: /its command "no-such-program" is not found/ },
    'command-not-found-in-shell': {
      spec: pod([app('no-such-program')]),
      says: /exit code 127 \(its command is not found\).*no-such-program: not found/,
    },
    'deleted-but-stuck': {
      spec: pod([app("trap '' TERM; while :; do sleep 1; done")], { terminationGracePeriodSeconds: 300 }),
      befalls: async (name) => {
        await isUp?.(name);
        await agent?.remove(name);
      },
      says: /has not ended on SIGTERM yet, and is killed at the end of its grace period of 300 s/,
    },
    'wrong-user': { spec: pod([app(stays, { securityContext: { runAsNonRoot: true } })]), says: /must not run as root \(runAsNonRoot\)/ },
    'host-path-type': {
      spec: pod([app(stays, { volumeMounts: [{ name: 'h', mountPath: '/h' }] })], {
        volumes: [{ name: 'h', hostPath: { path: '/etc/passwd', type: 'Directory' } }],
      }),
      says: /Volume h cannot be mounted: a hostPath volume is not of its type/,
    },
    'unknown-runtime-class': { spec: pod([app()], { runtimeClassName: 'gvisor' }), says: /RuntimeClass/ },
    sysctl: {
      spec: pod([app()], { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }),
      says: /asks for a sysctl that is forbidden here.*kernel\.msgmax/,
    },
    'startup-probe': {
      spec: pod([app(stays, { startupProbe: { ...http('/up'), failureThreshold: 1000 } })]),
      says: /has not started up yet: its startup probe fails: .*connection refused/,
    },
    completed: { spec: pod([app('exit 0')], never), says: /has completed/ },
    failed: { spec: pod([app('echo broken; exit 4')], never), says: /exit code 4 (?:at once|after \d+ s): broken/ },
    dns: { spec: pod([app('wget -q -O- http://no-such-host.invalid/')]), says: /wget: bad address 'no-such-host\.invalid/ },
    seccomp: {
      spec: pod([app()], { securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'none.json' } } }),
      says: /seccomp profile cannot be loaded/,
    },
    'invalid-manifest': {
      files: { 'pod.yaml': 'kind: Pod\napiVersion: v1\nmetadata:\n  name: x\nspec:\n  containers:\n  - image: 7\n' },
      ask: 'invalid-manifest-pod.yaml',
      says: /manifest is invalid and refused: .*containers\[0\]/,
    },
    'pull-unauthorised': { spec: pulled(`${host}/test/closed:1`), says: /cannot be pulled: the registry refuses it: unauthorized/ },
    'pull-rate-limit': { spec: pulled(`${host}/test/limited:1`), says: /cannot be pulled: the registry limits how often it is asked/ },
    'registry-broken': { spec: pulled(`${host}/test/broken:1`), says: /cannot be pulled: the registry answers with an error/ },
    'wrong-architecture': { spec: pulled(`${host}/test/other:1`), says: /no image for this machine’s architecture/ },
    pulling: { spec: pulled(`${host}/test/slow:1`), says: /is being pulled: \d+ %, .* of .* MB, about \d+ s left/ },
    'image-never': {
      spec: pod([app(stays, { image: 'not-here:1', imagePullPolicy: 'Never' })]),
      says: /is not on this machine, and imagePullPolicy Never forbids/,
    },
    'image-volume': {
      spec: pod([app(stays, { volumeMounts: [{ name: 'i', mountPath: '/i' }] })], {
        volumes: [{ name: 'i', image: { reference: `${host}/test/app:nope`, pullPolicy: 'Always' } }],
      }),
      says: /test\/app:nope .*(?:registry has no such image or tag)/,
    },
    'port-taken': {
      spec: pod([app(stays, { ports: [{ containerPort: 80, hostPort: takenPort }] })]),
      says: new RegExp(`host port is taken already.*${takenPort}`),
    },
    'port-of-another-pod': {
      spec: pod([app(stays, { ports: [{ containerPort: 80, hostPort: 31_777 }] })]),
      befalls: async (name) => {
        await isUp?.(name);
        await agent?.declare(`${name}-too`, pod([app(stays, { ports: [{ containerPort: 80, hostPort: 31_777 }] })]));
      },
      ask: 'port-of-another-pod-too',
      says: /may not run here: a host port that it asks for is taken by another pod/,
    },
    'config-map-key-path': {
      files: { 'object.yaml': object('ConfigMap', 'half-too', { a: '1' }) },
      spec: pod([app(stays, { volumeMounts: [{ name: 'c', mountPath: '/c' }] })], {
        volumes: [{ name: 'c', configMap: { name: 'half-too', items: [{ key: 'b', path: 'b' }] } }],
      }),
      says: /Volume c cannot be mounted: key b is missing/,
    },
    'sub-path': {
      spec: pod([app(stays, { volumeMounts: [{ name: 'h', mountPath: '/h', subPath: 'none/such', readOnly: true }] })], {
        volumes: [{ name: 'h', hostPath: { path: '/proc/1/task' } }],
      }),
      says: /subPath/,
    },
    'name-held': {
      spec: pod([app("trap '' TERM; while :; do sleep 1; done")], { terminationGracePeriodSeconds: 300 }),
      befalls: async (name) => {
        await isUp?.(name);
        await agent?.declare(name, pod());
      },
      says: /its name is held by a pod of the same name before it, and it waits for that one's end/,
    },
    'held-by-a-volume': {
      spec: pod([app(stays, { volumeMounts: [{ name: 'm', mountPath: '/m' }] })], {
        volumes: [{ name: 'm', emptyDir: { medium: 'Memory' } }],
      }),
      befalls: async (name) => {
        await isUp?.(name);
        await hold?.(name, 'm');
        await agent?.remove(name);
      },
      says: /its volume m cannot be released: .*in use \(device or resource busy\)/,
    },
    'sidecar-stuck': {
      spec: pod([app()], {
        initContainers: [app(stays, { name: 'proxy', restartPolicy: 'Always', startupProbe: { ...http('/up'), failureThreshold: 1000 } })],
      }),
      says: /Sidecar proxy runs and has not started up yet: its startup probe fails/,
    },
    'declared-twice': {
      spec: pod(),
      befalls: async (name) => {
        await agent?.declare(name, pod(), { file: `${name}-too` });
      },
      ask: 'declared-twice.yaml',
      says: /declared-twice.yaml is ignored: declared-twice-too.yaml declares a pod of the same name/,
    },
    'pre-stop-hangs': {
      spec: pod([app(stays, { lifecycle: { preStop: { exec: { command: ['sleep', '250'] } } } })], { terminationGracePeriodSeconds: 200 }),
      befalls: async (name) => {
        await isUp?.(name);
        await agent?.remove(name);
      },
      says: /preStop hook/,
    },
    'post-start-hangs': {
      spec: pod([app(stays, { lifecycle: { postStart: { exec: { command: ['sleep', '250'] } } } })]),
      says: /the postStart hook of container app still runs/i,
    },
    'manifest-broken-later': {
      spec: pod(),
      befalls: async (name) => {
        await isUp?.(name);
        await agent?.write(`${name}.yaml`, 'kind: Pod\napiVersion: v1\nmetadata: {name: [}\n');
      },
      says: /its manifest has been changed and is refused, and it goes on as it was/,
    },
    'nobody-user': {
      spec: pod([app(stays, { securityContext: { runAsUser: 1000 }, command: ['touch', '/x'] })]),
      says: /touch: \/x: Permission denied/,
    },
    'unknown-claim': {
      spec: pod([app(stays, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })], {
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'none' } }],
      }),
      ask: 'unknown-claim.yaml',
      says: /manifest is invalid and refused: .*persistentVolumeClaim/,
    },
  };
}
