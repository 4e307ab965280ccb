import { Writable } from 'node:stream';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOCAL_SOCKET_NAME } from '../../../src/base/local-socket-name.ts';
import { AgentClient } from '../../../src/cli/agent-client.ts';
import { runExplain } from '../../../src/cli/explain.ts';
import { AgentUnderTest, type Disposer } from '../agent/agent-under-test.ts';

const PATIENCE_MS = 180_000;

/** One agent for many sick pods that do not disturb each other, and what `rxlet explain` says of them. */
export interface ExplainingAgent {
  readonly agent: AgentUnderTest;
  /** What `rxlet explain WORDS` prints; POD stands for its name as declared. */
  readonly explain: (...words: readonly string[]) => Promise<string>;
  /** Asks about a pod, as it was declared, or a file, until the first three lines match; rejects with the last answer where they do not within three minutes. */
  readonly says: (asked: string, cause: RegExp) => Promise<string>;
}

export async function explainingAgent(test: Disposer, ...flags: string[]): Promise<ExplainingAgent> {
  return explainingOf(await AgentUnderTest.start(test, ...flags));
}

export function explainingOf(agent: AgentUnderTest): ExplainingAgent {
  return { agent, ...explainingAt(agent.rootDir, (name) => agent.pod(name)) };
}

/** What the agent says that keeps its socket there. */
export function explainingAt(rootDir: string, nameOf: (pod: string) => string): Omit<ExplainingAgent, 'agent'> {
  const client = new AgentClient(join(rootDir, LOCAL_SOCKET_NAME));
  const explain = async (...words: readonly string[]): Promise<string> => {
    let text = '';
    const stdout = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        text += chunk.toString();
        done();
      },
    });
    await runExplain(words, client, { stdin: process.stdin, stdout, stderr: stdout, nowMs: () => Date.now(), plain: true });
    return text;
  };
  const says = async (asked: string, cause: RegExp): Promise<string> => {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const text: string = await explain(asked === 'node' || asked.includes('.') ? asked : nameOf(asked)).catch((error: unknown) =>
        String(error),
      );
      if (new RegExp(cause.source, 'i').test(firstThree(text))) return text;
      if (performance.now() > deadline) throw new Error(`the first three lines do not say ${cause} of ${asked}:\n${text}`);
      await sleep(300);
    }
  };
  return { explain, says };
}

/** Wrapped lines read as one. */
export const firstThree = (text: string): string => text.split('\n').slice(0, 3).join(' ').replaceAll(/\s+/g, ' ');
