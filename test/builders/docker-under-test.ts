import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../src/base/json-object.ts';
import { systemClock } from '../../src/base/clock.ts';
import { type Logger, silentLogger } from '../../src/base/logger.ts';
import { askEndpoint } from '../../src/engines/asking/ask-endpoint.ts';
import type { EngineClient } from '../../src/engines/docker/client/engine-client.ts';
import type { LogPolicy } from '../../src/model/log-policy.ts';
import type { ContainerRuntime } from '../../src/ports/container-runtime.ts';
import { aDockerRuntime, anEngineClient } from './docker-parts.ts';
import { LogLinks } from '../../src/engines/docker/logs/log-links.ts';

/** Images that the engine under test has; another registry's names may stand in for them. */
export const testImage = process.env['RXLET_TEST_IMAGE'] ?? 'busybox:1.35';
export const testPauseImage = process.env['RXLET_TEST_PAUSE_IMAGE'] ?? 'rxlet/pause:1';
export const testEndpoint = process.env['RXLET_TEST_DOCKER_ENDPOINT'] ?? 'unix:///var/run/docker.sock';

export interface DockerUnderTest {
  readonly client: EngineClient;
  readonly runtime: ContainerRuntime;
  /** Log links go here instead of /var/log. */
  readonly podLogsDir: string;
  readonly containerLogsDir: string;
  readonly dispose: () => Promise<void>;
}

/** A runtime on the real engine. Rejects, and so fails the test, when none answers or an image is missing. */
export async function dockerUnderTest(
  over: { readonly endpoint?: string; readonly log?: Logger; readonly logPolicy?: LogPolicy } = {},
): Promise<DockerUnderTest> {
  const endpoint = over.endpoint ?? testEndpoint;
  const answer = await askEndpoint(endpoint, systemClock, AbortSignal.timeout(PATIENCE_MS));
  const client = sayingOnce(
    anEngineClient(endpoint, systemClock, { speaks: answer.speaks === 'docker' && answer.name === 'podman' ? 'podman' : 'docker' }),
    endpoint,
  );
  await demand(client);
  const logs = await mkdtemp(join(tmpdir(), 'rxlet-logs-'));
  const [podLogsDir, containerLogsDir] = [join(logs, 'pods'), join(logs, 'containers')];
  const log = over.log ?? silentLogger;
  const runtime = aDockerRuntime(client, systemClock, {
    log,
    rootDir: join(logs, 'root'),
    podInfraContainerImage: testPauseImage,
    podLogsDir,
    logPolicy: () => over.logPolicy,
    logLinks: new LogLinks(podLogsDir, containerLogsDir, log),
  });
  return {
    client,
    runtime,
    podLogsDir,
    containerLogsDir,
    dispose: async () => {
      client.close();
      await rm(logs, { recursive: true });
    },
  };
}

const said = new Map<string, Promise<JsonObject>>();

/** What an engine says of itself is the same for all tests of a file, and takes some seconds. */
function sayingOnce(client: EngineClient, endpoint: string): EngineClient {
  return {
    ...client,
    about: async (question, signal) => {
      signal.throwIfAborted();
      const key = `${question} ${endpoint}`;
      const answer = said.get(key) ?? client.about(question, signal);
      said.set(key, answer);
      return answer;
    },
  };
}

/** Podman on a busy machine takes seconds to look at an image. */
const PATIENCE_MS = 60_000;

async function demand(client: EngineClient): Promise<void> {
  for (const image of [testImage, testPauseImage]) {
    try {
      await client.call(`GET /images/${image}/json`, PATIENCE_MS, AbortSignal.timeout(PATIENCE_MS), (docker) =>
        docker.getImage(image).inspect(),
      );
    } catch (cause) {
      throw new Error(`these tests need a Docker engine at ${testEndpoint} with the image ${image}; hack/test.sh brings both`, { cause });
    }
  }
}
