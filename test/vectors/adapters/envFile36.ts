import { EnvFile, EnvFileError } from '../../../src/model/env-file.ts';

export function run({ text, key }: { readonly text: string; readonly key: string }): unknown {
  try {
    return { value: new EnvFile(text, 'FILE').valueOf(key) };
  } catch (error) {
    if (error instanceof EnvFileError) return { error: error.message };
    throw error;
  }
}
