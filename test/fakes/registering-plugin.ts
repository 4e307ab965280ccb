import type { MessageInitShape } from '@bufbuild/protobuf';
import { rename } from 'node:fs/promises';
import { Subject } from 'rxjs';
import { type PluginInfoSchema, Registration } from '../../src/plugins/api/registration_pb.js';
import { CriServer } from './cri-server.ts';

/** A plugin that registers: it says who it is, and hears what became of it. More methods may be answered by its `server`. */
export class RegisteringPlugin implements AsyncDisposable {
  readonly server: CriServer;
  readonly path: string;
  /** What it was told: "registered", or the error. */
  readonly told: string[] = [];
  readonly tellings = new Subject<string>();

  /** The socket appears when it is listened on. */
  static async listen(path: string, info: MessageInitShape<typeof PluginInfoSchema>): Promise<RegisteringPlugin> {
    const server = await CriServer.listen(`${path}.new`);
    const plugin = new RegisteringPlugin(server, path, info);
    await rename(`${path}.new`, path);
    return plugin;
  }

  private constructor(server: CriServer, path: string, info: MessageInitShape<typeof PluginInfoSchema>) {
    this.server = server;
    this.path = path;
    server.answer(Registration.method.getInfo, () => info);
    server.answer(Registration.method.notifyRegistrationStatus, ({ pluginRegistered, error }) => {
      const word = pluginRegistered ? 'registered' : error;
      this.told.push(word);
      this.tellings.next(word);
      return {};
    });
  }

  /** As one that is killed: its socket stays. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}
