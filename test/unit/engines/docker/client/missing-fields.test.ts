import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dockerAccess } from '../../../../../src/engines/docker/access/docker-access.ts';
import { engineDataDirectory, RunningContainers } from '../../../../../src/engines/docker/observe/running-containers.ts';
import type { PodUid } from '../../../../../src/model/pod.ts';
import type { ContainerId } from '../../../../../src/ports/container-runtime.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';
import { aDockerRuntime, anEngineClient, dockerImages } from '../../../../builders/docker-parts.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const ID = 'c'.repeat(64);
const IMAGE = `sha256:${'1'.repeat(64)}`;
const labels = {
  'io.kubernetes.docker.type': 'container',
  'io.kubernetes.pod.uid': 'uid',
  'io.kubernetes.pod.name': 'pod',
  'io.kubernetes.pod.namespace': 'ns',
};

/** What an engine tells when it tells all that is read here. */
const answers: Readonly<Record<string, Json>> = {
  'GET /containers/json': [{ Id: ID, Names: ['/k8s_app_pod_ns_uid_0'], ImageID: IMAGE, State: 'running', Labels: labels }],
  'GET /containers/ID/json': {
    Id: ID,
    Name: '/k8s_app_pod_ns_uid_0',
    Created: '2026-01-01T00:00:00Z',
    Image: IMAGE,
    LogPath: '/nonexistent/log',
    ResolvConfPath: '/nonexistent/resolv.conf',
    Mounts: [{ Source: '/a', Destination: '/dev/termination-log' }],
    GraphDriver: { Name: 'overlay2', Data: { UpperDir: '/upper' } },
    State: {
      Status: 'exited',
      Running: false,
      OOMKilled: false,
      Pid: 0,
      ExitCode: 1,
      Error: '',
      StartedAt: '2026-01-01T00:00:01Z',
      FinishedAt: '2026-01-01T00:00:02Z',
    },
    Config: { Image: 'busybox', Tty: false, Labels: labels },
    HostConfig: { NetworkMode: 'bridge', LogConfig: { Type: 'journald', Config: {} } },
    NetworkSettings: { IPAddress: '10.0.0.1', Networks: { bridge: { IPAddress: '10.0.0.1', GlobalIPv6Address: '' } } },
  },
  'GET /containers/ID/logs': '',
  'GET /images/ID/json': {
    Id: IMAGE,
    RepoTags: ['busybox:latest'],
    RepoDigests: [`busybox@${IMAGE}`],
    Size: 1,
    Config: { User: 'nobody' },
  },
  'GET /images/json': [{ Id: IMAGE, RepoTags: ['busybox:latest'], RepoDigests: [`busybox@${IMAGE}`], Size: 1 }],
  'GET /version': { Version: '29.0.0', ApiVersion: '1.52' },
  'GET /info': { DockerRootDir: '/var/lib/docker', LoggingDriver: 'json-file' },
};

/** The value without the field at each path in it, and with null there: "State.Pid". */
function* lacking(value: Json, path = ''): Generator<readonly [what: string, value: Json | undefined]> {
  if (path !== '') {
    yield [`without ${path}`, undefined];
    yield [`with ${path} null`, null];
  }
  if (typeof value !== 'object' || value === null) return;
  const entries = Object.entries<Json>(value as Readonly<Record<string, Json>>);
  for (const [key, inner] of entries) {
    for (const [what, other] of lacking(inner, path === '' ? key : `${path}.${key}`)) {
      if (Array.isArray(value)) yield [what, value.flatMap((each, i) => (String(i) !== key ? [each] : other === undefined ? [] : [other]))];
      else yield [what, Object.fromEntries(entries.flatMap(([k, v]) => (k !== key ? [[k, v]] : other === undefined ? [] : [[k, other]])))];
    }
  }
}

/** Everything that reads what the engine tells. */
async function readAll(told: Readonly<Record<string, Json | undefined>>): Promise<void> {
  const engine = await scriptedEngine(({ method, url = '' }, response) => {
    const path = url.replace(/\?.*/, '').replace(/^\/(containers|images)\/(?!json$)[^/]+\//, '/$1/ID/');
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(told[`${method} ${path}`]));
  });
  const clock = new FakeClock();
  const client = anEngineClient(engine.endpoint, clock);
  const access = dockerAccess({ client, clock });
  const { signal } = new AbortController();
  try {
    const runtime = aDockerRuntime(client, clock);
    const images = dockerImages(client, clock);
    await Promise.all([
      runtime.info(signal),
      runtime.listPods(signal),
      runtime.observePod('uid' as PodUid, signal),
      images.inspectImage('busybox', signal),
      images.listImages(signal),
      new RunningContainers(client).list(signal),
      engineDataDirectory(client, signal),
    ]);
    for await (const piece of access.logs(ID as ContainerId, { follow: false, timestamps: false }, signal)) assert.ok(piece);
  } finally {
    access.close();
    client.close();
    await engine.close();
  }
}

describe('what an engine does not tell fails nothing', () => {
  for (const [request, answer] of Object.entries(answers))
    test(request, async () => {
      const failed: string[] = [];
      for (const [what, value] of lacking(answer)) {
        await readAll({ ...answers, [request]: value }).catch((error: unknown) => failed.push(`${what}: ${String(error)}`));
      }
      assert.deepEqual(failed, []);
    });
});
