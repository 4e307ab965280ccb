import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ScriptedEngine {
  /** unix://PATH */
  readonly endpoint: string;
  /** What was asked so far: "METHOD URL". */
  readonly requests: readonly string[];
  readonly close: () => Promise<void>;
}

/** A daemon that answers as the script says, or not at all. */
export async function scriptedEngine(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<ScriptedEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-engine-'));
  const path = join(directory, 'engine.sock');
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    answer(request, response);
  }).listen(path);
  await once(server, 'listening');
  return {
    endpoint: `unix://${path}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await rm(directory, { recursive: true });
    },
  };
}
