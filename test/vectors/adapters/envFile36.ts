import { EnvFileError, envFileValue } from '../../../src/model/env-file.ts';

export function run({ text, key }: { readonly text: string; readonly key: string }): unknown {
  try {
    return { value: envFileValue(text, key, 'FILE') };
  } catch (error) {
    if (error instanceof EnvFileError) return { error: error.message };
    throw error;
  }
}
