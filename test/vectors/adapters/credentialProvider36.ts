import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CredentialProvider } from '../../../src/images/providers/credential-provider.ts';
import { imageMatches } from '../../../src/images/providers/image-matches.ts';
import { providerAnswer } from '../../../src/images/providers/provider-answer.ts';
import { readProviders } from '../../../src/images/providers/provider-config.ts';
import { providerFaults } from '../../../src/images/providers/provider-faults.ts';
import { registryLocationFault } from '../../../src/images/registry-location.ts';

interface Response {
  readonly auth: Readonly<Record<string, { readonly username: string; readonly password: string }>>;
  readonly cacheKeyType: string;
  readonly cacheSec?: number;
}

type Input =
  | { readonly op: 'match'; readonly glob: string; readonly image: string }
  | { readonly op: 'allowed'; readonly matchImages: readonly string[]; readonly image: string }
  | { readonly op: 'registry'; readonly image: string }
  | { readonly op: 'config'; readonly files: Readonly<Record<string, string>>; readonly single?: string }
  | { readonly op: 'response'; readonly text: string }
  | {
      readonly op: 'provide';
      readonly matchImages: readonly string[];
      readonly defaultCacheSec: number;
      readonly steps: readonly { readonly atSec: number; readonly image: string; readonly response?: Response }[];
    };

export async function run(input: Input): Promise<unknown> {
  switch (input.op) {
    case 'match': {
      const fault = registryLocationFault(input.glob) ?? registryLocationFault(input.image);
      return fault === undefined ? { match: imageMatches(input.glob, input.image) } : { error: fault };
    }
    case 'allowed':
      return input.matchImages.some((pattern) => imageMatches(pattern, input.image));
    case 'registry':
      return registryAsked(input.image);
    case 'response':
      return response(input.text);
    case 'config':
      return config(input.files, input.single);
    case 'provide':
      return provide(input.matchImages, input.defaultCacheSec, input.steps);
    default:
      return input satisfies never;
  }
}

const authOf = (entries: readonly { readonly location: string; readonly username: string; readonly password: string }[]): object =>
  Object.fromEntries(entries.map(({ location, username, password }) => [location, { username, password }]));

/** Of which registry an answer for "Registry" is: the one for whose images it counts. */
async function registryAsked(image: string): Promise<string | undefined> {
  const asked: string[] = [];
  const ask = (of: string) => {
    asked.push(of);
    return Promise.resolve({ entries: [], cacheKeyType: 'Registry', cacheMs: 1 });
  };
  const registry = image.split('/', 1)[0] ?? '';
  const provider = new CredentialProvider({ matchImages: [registry], defaultCacheMs: 0 }, { clock: { monotonicMs: () => 0 }, ask });
  await provider.provide(image);
  await provider.provide(`${registry}/another/of/it`);
  return asked.length === 1 ? registry : undefined;
}

function response(text: string): unknown {
  try {
    const { entries, cacheKeyType, cacheMs } = providerAnswer(text);
    return { auth: authOf(entries), cacheKeyType, ...(cacheMs !== undefined && { cacheSec: cacheMs / 1000 }) };
  } catch {
    return { error: true };
  }
}

async function config(files: Readonly<Record<string, string>>, single: string | undefined): Promise<unknown> {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-providers-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true });
      await writeFile(join(directory, name), text);
    }
    const { providers, hash } = await readProviders(single === undefined ? directory : join(directory, single));
    const order = ({ type, field, detail }: { type: string; field: string; detail: string }): string => `${detail} ${field} ${type}`;
    const errors = providerFaults(providers)
      .map(({ type, field, detail }) => ({ type, field, detail }))
      .toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
    return { errors, hash, providers: providers.map(({ name }) => name) };
  } catch {
    return { error: true };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function provide(
  matchImages: readonly string[],
  defaultCacheSec: number,
  steps: readonly { readonly atSec: number; readonly image: string; readonly response?: Response }[],
): Promise<unknown> {
  let now = 0;
  let called = false;
  let next: Response | undefined;
  const provider = new CredentialProvider(
    { matchImages, defaultCacheMs: defaultCacheSec * 1000 },
    {
      clock: { monotonicMs: () => now },
      ask: async () => {
        called = true;
        if (!next) throw new Error('failed to get credential from external registry credential provider: plugin failed');
        const { auth, cacheKeyType, cacheSec } = next;
        const entries = Object.entries(auth).map(([location, entry]) => ({ location, ...entry }));
        return { entries, cacheKeyType, cacheMs: cacheSec === undefined ? undefined : cacheSec * 1000 };
      },
    },
  );
  const out: unknown[] = [];
  for (const { atSec, image, response: answer } of steps) {
    now = atSec * 1000;
    called = false;
    next = answer;
    try {
      out.push({ auth: authOf((await provider.provide(image)) ?? []), called });
    } catch (error) {
      out.push({ called, error: error instanceof Error ? error.message : String(error) });
    }
  }
  return out;
}
