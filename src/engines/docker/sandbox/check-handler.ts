import { quote } from '../../../model/go-text.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { text } from '../client/whole-answers.ts';
import { runtimeOfHandler } from '../identity/runtime-of-handler.ts';

/** Rejects where the engine would run a pod by another handler than its own. */
export async function checkHandler(client: EngineClient, handler: string | undefined, signal: AbortSignal): Promise<void> {
  const runtime = runtimeOfHandler(handler);
  if (runtime === undefined || (await client.dialect(signal)).takesHandlers) return;
  const { DefaultRuntime } = await client.about('info', signal);
  if (runtime !== DefaultRuntime)
    throw new Error(`handler ${quote(runtime)}: this engine runs every pod by its default, ${quote(text(DefaultRuntime))}`);
}
