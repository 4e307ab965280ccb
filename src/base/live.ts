import { type Observable, Subject } from 'rxjs';

/** A value that may change: read it where it is needed, rather than keep it. */
export interface Live<T> {
  readonly now: T;
  /** Each new value, from when it is subscribed to. Hot; never errors or completes. */
  readonly changes: Observable<T>;
}

/** A Live for the one who sets it. */
export class LiveValue<T> implements Live<T> {
  #now: T;
  readonly #changes = new Subject<T>();
  readonly changes: Observable<T> = this.#changes.asObservable();

  constructor(now: T) {
    this.#now = now;
  }

  get now(): T {
    return this.#now;
  }

  set(value: T): void {
    this.#now = value;
    this.#changes.next(value);
  }
}
