import { Subject } from 'rxjs';
import { abortable } from '../../src/base/abortable.ts';
import type { Logind } from '../../src/shutdown/logind.ts';

/** A logind in memory. */
export class FakeLogind implements Logind {
  /** InhibitDelayMaxSec, as it is now. */
  delaySeconds = 30;
  /** What it was asked to raise that to; taken over where `takesConfig`. */
  raisedTo: number | undefined;
  takesConfig = true;
  isGoingDown = false;
  /** Why it does not answer. */
  fault: Error | undefined;
  /** Locks that are held now. */
  locks = 0;
  readonly #ends = new Subject<{ readonly what: 'watch' | 'delay'; readonly error: Error }>();
  readonly #prepares = new Subject<boolean>();

  /** Tells that the machine goes down, or that it does not after all. */
  prepare(goesDown: boolean): void {
    this.isGoingDown = goesDown;
    this.#prepares.next(goesDown);
  }

  /** The program that watches, or that holds the lock, dies. */
  end(what: 'watch' | 'delay'): void {
    this.#ends.next({ what, error: new Error(`${what} ended`) });
  }

  async delayMaxMs(): Promise<number> {
    if (this.fault) throw this.fault;
    return this.delaySeconds * 1000;
  }

  async raiseDelayMax(seconds: number): Promise<void> {
    this.raisedTo = seconds;
    if (this.takesConfig) this.delaySeconds = seconds;
  }

  async isPreparing(): Promise<boolean> {
    return this.isGoingDown;
  }

  delay(onHeld: () => void, signal: AbortSignal): Promise<never> {
    this.locks++;
    onHeld();
    return this.#until('delay', signal).finally(() => this.locks--);
  }

  watch({ onReady, onPrepare }: Parameters<Logind['watch']>[0], signal: AbortSignal): Promise<never> {
    if (this.fault) return Promise.reject(this.fault);
    const subscription = this.#prepares.subscribe(onPrepare);
    onReady();
    return this.#until('watch', signal).finally(() => subscription.unsubscribe());
  }

  #until(what: 'watch' | 'delay', signal: AbortSignal): Promise<never> {
    return abortable<never>(signal, (_resolve, reject) => {
      const subscription = this.#ends.subscribe((end) => {
        if (end.what === what) reject(end.error);
      });
      return () => subscription.unsubscribe();
    });
  }
}
