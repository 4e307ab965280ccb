import { errorText } from '../base/error-text.ts';
import { nodeReference } from '../model/object-reference.ts';
import { streamLevels } from '../options/kubelet-options.ts';
import { OptionsError } from '../options/load-options.ts';
import type { LoadedOptions } from '../options/load-options.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { changedOptions } from './changed-options.ts';

type Needs = Pick<NodeParts, 'options' | 'live' | 'config' | 'verbosity' | 'node' | 'events' | 'log'>;

/** More help no reader. */
const MAX_SHOWN = 10;

/** What becomes of a configuration that has changed: what can be is applied, and of the rest it is said that a restart is needed. */
export class ConfigChanges {
  readonly #needs: Needs;
  /** What was said of the files as they are; undefined: nothing, for they say what is in force. */
  #said: string | undefined;
  /** Warnings of the start are not repeated. */
  #warned: ReadonlySet<string> | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Reads all flags and files again. What cannot be used changes nothing, and why not is said. Never rejects. */
  async look(): Promise<void> {
    try {
      this.#take(await this.#needs.config.read());
    } catch (error) {
      this.#refuse(error instanceof OptionsError ? error.problems : [errorText(error)]);
    }
  }

  #take({ options: next, warnings }: LoadedOptions): void {
    const { options, live, config, verbosity, log } = this.#needs;
    if (next.configFile !== options.configFile) {
      this.#refuse([`flag --config: ${options.configFile} is no KubeletConfiguration any more, but manifests`]);
      return;
    }
    const { changes, live: changed } = changedOptions(options, live.now, next);
    const applied = changes.filter(({ takesEffect }) => takesEffect === 'at once');
    if (applied.length > 0) {
      const before = live.now;
      config.apply(changed);
      // PUT /debug/flags/v counts until the file says something else.
      if (changed.verbosity !== before.verbosity) verbosity.set(changed.verbosity);
      if (changed.vmodule !== before.vmodule) verbosity.setStreams(streamLevels(changed));
      log.info('the configuration has changed, and counts from now on', { changes: applied.map(({ text }) => text) });
    }
    this.#warn(warnings.map(({ message, option, at }) => [message, option, at].filter((part) => part !== undefined).join(' ')));
    const waiting = changes.filter(({ takesEffect }) => takesEffect === 'after a restart');
    const fields = waiting.map(({ field }) => field).join(', ');
    const was = this.#said;
    this.#said = fields === '' ? undefined : fields;
    if (fields !== '' && fields !== was) {
      log.warn('the configuration has changed: restart the agent for these fields to count', { changes: waiting.map(({ text }) => text) });
      this.#record('Normal', 'ConfigRestartNeeded', `Restart the agent for changed fields of its configuration to count: ${fields}`);
    } else if (fields === '' && was !== undefined) {
      log.info('the configuration is what is in force');
    }
  }

  #warn(warnings: readonly string[]): void {
    const known = this.#warned ?? new Set(warnings);
    this.#warned = new Set(warnings);
    for (const warning of this.#warned) if (!known.has(warning)) this.#needs.log.warn('of the changed configuration', { warning });
  }

  #refuse(problems: readonly string[]): void {
    const text = shown(problems);
    if (this.#said === text) return;
    this.#said = text;
    this.#needs.log.error('the changed configuration is not valid, and changes nothing', { problems: problems.slice(0, MAX_SHOWN) });
    this.#record('Warning', 'InvalidConfig', `The changed configuration is not valid, and changes nothing: ${text}`);
  }

  #record(type: 'Normal' | 'Warning', reason: 'ConfigRestartNeeded' | 'InvalidConfig', message: string): void {
    const { events, node } = this.#needs;
    events.record(nodeReference(node.name), type, reason, message);
  }
}

function shown(problems: readonly string[]): string {
  const more = problems.length - MAX_SHOWN;
  return [...problems.slice(0, MAX_SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
