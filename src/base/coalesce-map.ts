import { Observable, type OperatorFunction } from 'rxjs';

/** Runs `project` at once with the first value; what comes during a run is collected and given to the next one together. One run at a time. */
export function coalesceMap<T, R>(project: (values: readonly T[]) => Promise<R>): OperatorFunction<T, R> {
  return (source) =>
    new Observable((subscriber) => {
      let waiting: T[] = [];
      let running = false;
      let completed = false;
      const runAll = async (): Promise<void> => {
        running = true;
        try {
          while (waiting.length > 0 && !subscriber.closed) {
            const values = waiting;
            waiting = [];
            subscriber.next(await project(values));
          }
          if (completed) subscriber.complete();
        } catch (error) {
          subscriber.error(error);
        } finally {
          running = false;
        }
      };
      return source.subscribe({
        next: (value) => {
          waiting.push(value);
          if (!running) void runAll();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          completed = true;
          if (!running) subscriber.complete();
        },
      });
    });
}
