import { silentLogger } from '../../../src/base/logger.ts';
import { credentialsFor, entriesOfSecrets } from '../../../src/images/keyring.ts';
import { NodeDockerConfig } from '../../../src/images/node-docker-config.ts';
import { parseImageName } from '../../../src/model/image-name.ts';

interface Input {
  readonly secrets?: readonly { readonly type: string; readonly content: string }[];
  readonly node?: readonly { readonly file: string; readonly content: string }[];
  readonly image?: string;
  readonly lookup?: string;
}

export async function run({ secrets = [], node = [], image = '', lookup }: Input): Promise<unknown> {
  const readText = async (path: string): Promise<string> => {
    const file = node.find((f) => path === `/root-dir/${f.file}`);
    if (file === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
    return file.content;
  };
  const nodeConfig = new NodeDockerConfig({ rootDir: '/root-dir', cwd: '/', home: undefined }, silentLogger, readText);
  try {
    const repository = lookup ?? parseImageName(image).repo;
    const base64 = secrets.map(({ type, content }) => ({
      type,
      data: { [type === 'kubernetes.io/dockercfg' ? '.dockercfg' : '.dockerconfigjson']: Buffer.from(content).toString('base64') },
    }));
    const credentials = credentialsFor(repository, entriesOfSecrets(base64), await nodeConfig.entries());
    return {
      lookup: repository,
      found: credentials.length > 0,
      credentials: credentials.map(({ username, password }) => ({ username, password })),
    };
  } catch (error) {
    return { error: true, message: error instanceof Error ? error.message : String(error) };
  }
}
