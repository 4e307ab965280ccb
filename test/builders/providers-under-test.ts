import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { errorText } from '../../src/base/error-text.ts';
import { type Logger, silentLogger } from '../../src/base/logger.ts';
import {
  credentialProviders,
  type CredentialProvidersDeps,
  type ProvidedCredentials,
} from '../../src/images/providers/credential-providers.ts';
import { RecordedHappenings } from '../fakes/recorded-happenings.ts';

/** Of a configuration: a provider for all of .example. `more` begins with a comma. */
export const provider = (name: string, more = ''): string =>
  `- {name: ${name}, apiVersion: credentialprovider.kubelet.k8s.io/v1, matchImages: ["*.example"], defaultCacheDuration: 1m${more}}\n`;

export const config = (...providers: readonly string[]): string =>
  `apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\nproviders:\n${providers.join('')}`;

/** What a provider's program prints. `auth` is JSON, `more` begins with a comma. */
export const answer = (auth: string, more = ''): string =>
  `{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Registry","auth":${auth}${more}}`;

export interface ProvidersUnderTest {
  readonly directory: string;
  /** What is logged, whatever its level: message, provider and what is wrong or why not. */
  readonly lines: readonly string[];
  /** All that is logged, with its fields. */
  readonly logged: readonly string[];
  readonly happenings: RecordedHappenings;
  readonly open: (over?: Partial<CredentialProvidersDeps>) => Promise<ProvidedCredentials>;
}

/** Providers with shell scripts for programs. */
export async function providersUnderTest(
  t: TestContext,
  text: string,
  programs: Readonly<Record<string, string>>,
): Promise<ProvidersUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-providers-'));
  t.after(() => rm(directory, { recursive: true }));
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(directory, name), 0o755);
  }
  const path = join(directory, 'providers.yaml');
  await writeFile(path, text);
  const happenings = new RecordedHappenings();
  const { tell } = happenings;
  const lines: string[] = [];
  const logged: string[] = [];
  const line = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const why = errorText(fields['error'] ?? fields['because']);
    lines.push(`${message} ${JSON.stringify(fields['provider'])}: ${why}`);
    logged.push(`${message} ${JSON.stringify(fields)} ${why}`);
  };
  const log: Logger = { ...silentLogger, v: (_level, message, fields) => line(message, fields), info: line, warn: line, error: line };
  const open = (over: Partial<CredentialProvidersDeps> = {}): Promise<ProvidedCredentials> =>
    credentialProviders({ path, directory, clock: systemClock, log, tell, mayHaveTokens: true, api: undefined, ...over });
  return { directory, lines, logged, happenings, open };
}
