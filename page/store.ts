/** What is shown, and who hears of changes: once a frame, however many changes there were. */
export class Store<T extends object> {
  #state: T;
  #drawn: T;
  #frame = 0;
  readonly #draw: (state: T) => void;
  readonly #nextFrame: (callback: () => void) => number;

  constructor(first: T, draw: (state: T) => void, nextFrame: (callback: () => void) => number) {
    this.#state = first;
    this.#drawn = first;
    this.#draw = draw;
    this.#nextFrame = nextFrame;
  }

  get state(): T {
    return this.#state;
  }

  set(change: Partial<T>): void {
    this.#state = { ...this.#state, ...change };
    if (this.#frame !== 0) return;
    this.#frame = this.#nextFrame(() => {
      this.#frame = 0;
      if (this.#drawn === this.#state) return;
      this.#drawn = this.#state;
      this.#draw(this.#state);
    });
  }
}
