import type { Subscription } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import type { Pause, Program, Wake } from './program.ts';

/** Docker's exit code for SIGKILL. */
export const KILLED = 128 + 9;

/** Longer pauses have no timer: nothing in a process's life is that late, and timers beyond 2^31 ms fire at once. */
const FOREVER_MS = 2 ** 31 - 1;

/** Drives a program through its pauses on a clock. INVARIANT: `onExit` is called once, and no timer is left then. */
export class ContainerProcess {
  readonly #program: Program;
  readonly #clock: Clock;
  readonly #onExit: (code: number) => void;
  #pause: Pause | undefined;
  #timer: Subscription | undefined;
  #ended = false;

  constructor(program: Program, clock: Clock, onExit: (code: number) => void) {
    this.#program = program;
    this.#clock = clock;
    this.#onExit = onExit;
  }

  /** A program without a pause ends on the clock's next turn, as a real one ends after its start was reported. */
  start(): void {
    this.#sleep({ ms: 0, hears: 'nothing' });
  }

  /** SIGTERM to process 1, which hears it only where it has a handler. */
  terminate(): void {
    if (this.#ended) return;
    const heard = this.#program.onTerm();
    if (this.#pause?.hears === 'term' || (heard && this.#pause?.hears === 'trap')) this.#resume('signalled');
  }

  /** There is something to read. */
  input(): void {
    if (!this.#ended && this.#pause?.hears === 'input') this.#resume('elapsed');
  }

  /** SIGKILL, or whatever else ends it from outside. */
  kill(code = KILLED): void {
    if (!this.#ended) this.#end(code);
  }

  #sleep(pause: Pause): void {
    this.#pause = pause;
    if (pause.ms <= FOREVER_MS) this.#timer = this.#clock.schedule(() => this.#resume('elapsed'), pause.ms);
  }

  #resume(wake: Wake): void {
    this.#timer?.unsubscribe();
    const step = this.#program.run.next(wake);
    if (step.done) this.#end(step.value);
    else this.#sleep(step.value);
  }

  #end(code: number): void {
    this.#ended = true;
    this.#timer?.unsubscribe();
    this.#onExit(code);
  }
}
