import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readRegularFile } from '../../base/read-regular-file.ts';
import { readYamlDocument } from '../../base/yaml-document.ts';
import { GoDurationError, parseGoDuration } from '../../model/go-duration.ts';
import { array, boolean, string, strictObject } from '../../options/zod-parts.ts';
import type { ProviderSpec } from './provider-faults.ts';

interface ConfigFile {
  readonly name: string;
  readonly text: string;
}

export interface ProviderConfig {
  /** In the order of the files. */
  readonly providers: readonly ProviderSpec[];
  /** Of the files' contents, each after its length: says whether two nodes have the same. */
  readonly hash: string;
}

const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `kubelet.config.k8s.io/${version}`);

const tokenAttributes = strictObject({
  serviceAccountTokenAudience: string().nullish(),
  cacheType: string().nullish(),
  requireServiceAccount: boolean().nullish(),
  requiredServiceAccountAnnotationKeys: array(string()).nullish(),
  optionalServiceAccountAnnotationKeys: array(string()).nullish(),
});
const provider = strictObject({
  name: string().nullish(),
  apiVersion: string().nullish(),
  matchImages: array(string()).nullish(),
  defaultCacheDuration: string().nullish(),
  args: array(string()).nullish(),
  env: array(strictObject({ name: string().nullish(), value: string().nullish() })).nullish(),
  tokenAttributes: tokenAttributes.nullish(),
});
const config = strictObject({ apiVersion: string(), kind: string(), providers: array(provider).nullish() });

const MAX_BYTES = 1 << 20;
const MAX_FILES = 1_000;

/**
 * Reads --image-credential-provider-config, a file or a directory of .json, .yaml and .yml files (readCredentialProviderConfig in
 * pkg/credentialprovider/plugin). Rejects with the file and what is wrong where one cannot be read or decoded, or two providers have one name.
 * What is decoded need not be valid: see `providerFaults`.
 */
export async function readProviders(path: string): Promise<ProviderConfig> {
  const files = (await stat(path)).isDirectory() ? await filesIn(path) : [path];
  if (files.length === 0) throw new Error('there is no .json, .yaml or .yml file in it');
  return merged(await Promise.all(files.map(async (name) => ({ name, text: await readRegularFile(name, MAX_BYTES) }))));
}

async function filesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isDirectory() && /\.(json|yaml|yml)$/.test(entry.name)).map(({ name }) => name);
  if (names.length > MAX_FILES) throw new Error(`there are more than ${MAX_FILES} files in it`);
  return names.toSorted().map((name) => join(directory, name));
}

function merged(files: readonly ConfigFile[]): ProviderConfig {
  const hash = createHash('sha256');
  const providers = new Map<string, ProviderSpec>();
  for (const { name: file, text } of files) {
    const content = Buffer.from(text);
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(content.length));
    hash.update(length).update(content);
    for (const spec of decode(file, text)) {
      if (providers.has(spec.name)) throw new Error(`${file}: there are two providers of the name ${JSON.stringify(spec.name)}`);
      providers.set(spec.name, spec);
    }
  }
  return { providers: [...providers.values()], hash: `sha256:${hash.digest('hex')}` };
}

function decode(file: string, text: string): readonly ProviderSpec[] {
  const { content, faults, lines } = readYamlDocument(text);
  const [fault] = faults;
  if (fault) throw new Error(`${file}:${lines.linePos(fault.offset).line}: ${fault.message}`);
  const { success, data, error } = config.safeParse(content);
  if (!success) {
    const wrong = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).slice(0, 5);
    throw new Error(`${file}: it is no CredentialProviderConfig: ${wrong.join('; ')}`);
  }
  const { apiVersion, kind } = data;
  if (kind !== 'CredentialProviderConfig') throw new Error(`${file}: expected a CredentialProviderConfig, found a ${kind}`);
  if (!versions.includes(apiVersion)) throw new Error(`${file}: apiVersion: expected ${versions.join(', ')}, found ${apiVersion}`);
  return (data.providers ?? []).map((each): ProviderSpec => {
    const { defaultCacheDuration, tokenAttributes: tokens } = each;
    return {
      name: each.name ?? '',
      apiVersion: each.apiVersion ?? '',
      matchImages: each.matchImages ?? [],
      defaultCacheMs: typeof defaultCacheDuration === 'string' ? durationMs(file, defaultCacheDuration) : undefined,
      args: each.args ?? [],
      env: Object.fromEntries((each.env ?? []).map(({ name, value }) => [name ?? '', value ?? ''])),
      tokenAttributes: tokens && {
        audience: tokens.serviceAccountTokenAudience ?? '',
        cacheType: tokens.cacheType ?? '',
        required: tokens.requireServiceAccount ?? undefined,
        requiredKeys: tokens.requiredServiceAccountAnnotationKeys ?? [],
        optionalKeys: tokens.optionalServiceAccountAnnotationKeys ?? [],
      },
    };
  });
}

function durationMs(file: string, text: string): number {
  try {
    return Number(parseGoDuration(text)) / 1e6;
  } catch (error) {
    if (!(error instanceof GoDurationError)) throw error;
    throw new Error(`${file}: providers.defaultCacheDuration: ${error.message}`, { cause: error });
  }
}
