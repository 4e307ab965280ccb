import { errorText } from '../base/error-text.ts';
import { MAX_PLAN_BYTES, type ManifestText, type PlanRequest } from '../model/plan-request.ts';
import { CommandError } from './command-io.ts';

/** Files, as they were read. */
export interface FoundManifests {
  readonly files: readonly { readonly file: string; readonly content: Uint8Array }[];
  readonly unreadable: readonly { readonly file: string; readonly why: string }[];
  readonly isWhole: boolean;
}

/** What the agent is asked about the manifests, and what of them could not be read. Throws CommandError where it is more than the agent takes. */
export function planRequest({ files, unreadable, isWhole }: FoundManifests): {
  readonly body: string;
  readonly unreadable: FoundManifests['unreadable'];
} {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const manifests: ManifestText[] = [];
  const notRead = [...unreadable];
  for (const { file, content } of files) {
    try {
      manifests.push({ file, text: decoder.decode(content) });
    } catch (error) {
      notRead.push({ file, why: `no UTF-8 text: ${errorText(error)}` });
    }
  }
  const request: PlanRequest = { manifests, whole: isWhole, unreadable: notRead.map(({ file }) => file) };
  const body = JSON.stringify(request);
  if (Buffer.byteLength(body) > MAX_PLAN_BYTES)
    throw new CommandError(
      `these manifests are longer than the ${MAX_PLAN_BYTES} bytes that the agent plans at one time: ask about fewer, or use --against`,
    );
  return { body, unreadable: notRead };
}
