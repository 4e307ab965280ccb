import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { containerHash } from '../../../src/model/container-hash.ts';
import { ContainerStartError } from '../../../src/model/container-start-error.ts';
import { DockerPods } from '../../builders/docker-pods.ts';
import { dockerUnderTest, testPauseImage } from '../../builders/docker-under-test.ts';

describe('what docker inspect shows', () => {
  let pods: DockerPods;
  beforeEach(async () => {
    pods = new DockerPods(await dockerUnderTest());
  });
  afterEach(() => pods.clean());

  test("a sandbox has dockershim's name, labels and settings", async () => {
    const web = pods.container('web', { ports: [{ containerPort: 80, name: 'http', protocol: 'TCP' }] });
    const pod = pods.pod([web], {}, { labels: { app: 'x' }, annotations: { note: 'y', 'kubernetes.io/config.source': 'file' } });
    const { uid, name } = pod.metadata;
    const { Name, Config, HostConfig } = await pods.inspect(await pods.runSandbox(pod, 2));
    assert.equal(Name, `/k8s_POD_${name}_default_${uid}_2`);
    assert.deepEqual(Config.Labels, {
      app: 'x',
      'annotation.note': 'y',
      'annotation.kubernetes.io/config.source': 'file',
      'io.kubernetes.container.name': 'POD',
      'io.kubernetes.docker.type': 'podsandbox',
      'io.kubernetes.pod.name': name,
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': uid,
    });
    assert.deepEqual([Config.Hostname, Config.Image], [name, testPauseImage]);
    const { NetworkMode, IpcMode, OomScoreAdj, CpuShares, SecurityOpt, ShmSize } = HostConfig;
    assert.match(NetworkMode ?? '', /^(default|bridge)$/, 'which is the same: newer engines call it bridge');
    assert.deepEqual(
      { IpcMode, OomScoreAdj, CpuShares, SecurityOpt, ShmSize },
      {
        IpcMode: 'shareable',
        OomScoreAdj: -998,
        CpuShares: 2,
        SecurityOpt: ['no-new-privileges'],
        ShmSize: 67108864,
      },
    );
  });

  test('a container with a target sees the processes of that, whatever its pod shares', async () => {
    const app = pods.container('app');
    const pod = pods.pod([app], { shareProcessNamespace: true });
    const sandbox = await pods.runSandbox(pod);
    const target = await pods.start(pod, sandbox, app);
    const { HostConfig } = await pods.inspect(await pods.start(pod, sandbox, pods.container('debug'), { target }));
    assert.equal(HostConfig.PidMode, `container:${target}`);
    assert.equal(HostConfig.NetworkMode, `container:${sandbox}`);
  });

  test("a container has dockershim's name, labels and settings", async () => {
    const app = pods.container('app', {
      ports: [{ containerPort: 80, name: 'http', protocol: 'TCP' }],
      lifecycle: { preStop: { exec: { command: ['sh', '-c', 'a < b'] } } },
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      resources: { limits: { memory: '64Mi', cpu: '500m' } },
      securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['NET_RAW'] } },
      workingDir: '/tmp',
    });
    const pod = pods.pod([app], { terminationGracePeriodSeconds: 7 }, { labels: { app: 'x' } });
    const { uid, name } = pod.metadata;
    const sandbox = await pods.runSandbox(pod);
    const id = await pods.start(pod, sandbox, app, {
      attempt: 3,
      env: [{ name: 'A', value: 'b=c' }],
      mounts: [{ hostPath: pods.docker.podLogsDir, containerPath: '/logs', readOnly: true }],
    });
    const { Name, Config, HostConfig, State, Mounts } = await pods.inspect(id);
    assert.equal(State.Running, true);
    assert.equal(Name, `/k8s_app_${name}_default_${uid}_3`);
    assert.deepEqual(Config.Labels, {
      'annotation.io.kubernetes.container.hash': containerHash(app),
      'annotation.io.kubernetes.container.ports': '[{"name":"http","containerPort":80,"protocol":"TCP"}]',
      'annotation.io.kubernetes.container.preStopHandler': '{"exec":{"command":["sh","-c","a \\u003c b"]}}',
      'annotation.io.kubernetes.container.restartCount': '3',
      'annotation.io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'annotation.io.kubernetes.container.terminationMessagePolicy': 'File',
      'annotation.io.kubernetes.pod.terminationGracePeriod': '7',
      'io.kubernetes.container.logpath': `${pods.docker.podLogsDir}/default_${name}_${uid}/app/3.log`,
      'io.kubernetes.container.name': 'app',
      'io.kubernetes.docker.type': 'container',
      'io.kubernetes.pod.name': name,
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': uid,
      'io.kubernetes.sandbox.id': sandbox,
    });
    assert.ok(Config.Env.includes('A=b=c'));
    assert.deepEqual([Config.Entrypoint, Config.WorkingDir, Config.User], [['sleep', '1000'], '/tmp', '0']);
    const { NetworkMode, IpcMode, Memory, CpuQuota, CpuPeriod, CpuShares, ReadonlyRootfs, CapDrop } = HostConfig;
    const mountAt = (path: string): string =>
      Mounts.filter((each) => each.Destination === path)
        .map(({ Source, RW }) => `${Source} ${RW ? 'rw' : 'ro'}`)
        .join();
    assert.match(mountAt('/dev/termination-log'), new RegExp(`/pods/${uid}/containers/app/[0-9a-f]{8} rw$`));
    assert.deepEqual(
      { NetworkMode, IpcMode, Memory, CpuQuota, CpuPeriod, CpuShares, ReadonlyRootfs, CapDrop, logs: mountAt('/logs') },
      {
        NetworkMode: `container:${sandbox}`,
        IpcMode: `container:${sandbox}`,
        Memory: 64 * 2 ** 20,
        CpuQuota: 50_000,
        CpuPeriod: 100_000,
        CpuShares: 512,
        ReadonlyRootfs: true,
        CapDrop: ['NET_RAW'],
        logs: `${pods.docker.podLogsDir} ro`,
      },
    );
    assert.deepEqual(HostConfig.SecurityOpt, ['seccomp=unconfined']);
    assert.deepEqual(HostConfig.RestartPolicy, { Name: 'no', MaximumRetryCount: 0 });
  });

  test('a container that must not be root is not created from an image of root', async () => {
    const app = pods.container('app', { securityContext: { runAsNonRoot: true } });
    const pod = pods.pod([app]);
    await assert.rejects(pods.start(pod, await pods.runSandbox(pod), app), (error) => {
      assert.ok(error instanceof ContainerStartError);
      assert.equal(error.reason, 'CreateContainerConfigError');
      assert.match(error.message, /^container has runAsNonRoot and image will run as root \(pod: "it-.*", container: app\)$/);
      return true;
    });
  });

  test('a host port is bound on the host', async () => {
    const web = pods.container('web', { ports: [{ containerPort: 80, hostPort: 38_080, hostIP: '127.0.0.1', protocol: 'TCP' }] });
    const pod = pods.pod([web]);
    const { NetworkSettings } = await pods.inspect(await pods.runSandbox(pod));
    assert.deepEqual(NetworkSettings.Ports['80/tcp'], [{ HostIp: '127.0.0.1', HostPort: '38080' }]);
  });
});
