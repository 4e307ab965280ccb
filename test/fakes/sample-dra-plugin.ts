import type { MessageInitShape } from '@bufbuild/protobuf';
import { DRAPlugin } from '../../src/dra/api/dra_v1_pb.js';
import { DRAResourceHealth, HealthStatus, type NodeWatchResourcesResponseSchema } from '../../src/dra/api/health_v1_pb.js';
import { RegisteringPlugin } from './registering-plugin.ts';

/** What becomes of a call: it is answered, fails with these words, hangs, or ends with the connection. */
export type Behaviour = 'well' | 'hangs' | 'dies' | { readonly fails: string };

/** A DRA driver that registers: each claim gets one device, which CDI names after it. */
export class SampleDraPlugin implements AsyncDisposable {
  prepares: Behaviour = 'well';
  unprepares: Behaviour = 'well';
  #timesHeard = 0;
  /** Which device a claim gets: one of its own name where nothing else is said. */
  deviceOf = (claim: string): string => claim;
  readonly plugin: RegisteringPlugin;
  #say: ((report: MessageInitShape<typeof NodeWatchResourcesResponseSchema>) => void) | undefined;
  /** "prepare NAME" and "unprepare NAME" of each claim that it was asked about. */
  readonly asked: string[] = [];

  /** `endpoint`: where it says that it serves, if that is not where it registers. */
  static async listen(path: string, name: string, endpoint = ''): Promise<SampleDraPlugin> {
    const supportedVersions = ['v1.DRAPlugin', 'v1.DRAResourceHealth'];
    return new SampleDraPlugin(await RegisteringPlugin.listen(path, { type: 'DRAPlugin', name, supportedVersions, endpoint }), name);
  }

  /** Says how a device does, to who listens. */
  say(deviceName: string, health: 'HEALTHY' | 'UNHEALTHY', message: string): void {
    const device = { poolName: 'n1', deviceName };
    this.#say?.({ devices: [{ device, health: HealthStatus[health], message }] });
  }

  /** How often somebody has begun to listen to what it says. */
  get timesHeard(): number {
    return this.#timesHeard;
  }

  private constructor(plugin: RegisteringPlugin, name: string) {
    this.plugin = plugin;
    plugin.server
      .on(DRAResourceHealth.method.nodeWatchResources, ({ send }) => {
        this.#say = send;
        this.#timesHeard++;
      })
      .on(DRAPlugin.method.nodePrepareResources, ({ input, send, end, hangUp }) => {
        for (const claim of input.claims) this.asked.push(`prepare ${claim.name}`);
        if (this.prepares === 'hangs') return;
        if (this.prepares === 'dies') {
          hangUp();
          return;
        }
        const error = typeof this.prepares === 'string' ? '' : this.prepares.fails;
        const device = (of: string): object => ({ poolName: 'n1', deviceName: of, cdiDeviceIds: [`${name}/device=${of}`] });
        send({
          claims: Object.fromEntries(input.claims.map((claim) => [claim.uid, { error, devices: [device(this.deviceOf(claim.name))] }])),
        });
        end();
      })
      .on(DRAPlugin.method.nodeUnprepareResources, ({ input, send, end, hangUp }) => {
        for (const claim of input.claims) this.asked.push(`unprepare ${claim.name}`);
        if (this.unprepares === 'hangs') return;
        if (this.unprepares === 'dies') {
          hangUp();
          return;
        }
        const error = typeof this.unprepares === 'string' ? '' : this.unprepares.fails;
        send({ claims: Object.fromEntries(input.claims.map((claim) => [claim.uid, { error }])) });
        end();
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.plugin[Symbol.asyncDispose]();
  }
}
