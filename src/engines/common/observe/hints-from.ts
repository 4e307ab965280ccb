import { Observable } from 'rxjs';
import type { PodUid } from '../../../model/pod.ts';

/** What a loop finds out about pods, as a stream: it begins with a subscription, one loop for each, and its signal aborts as that ends. */
export function hintsFrom(loop: (signal: AbortSignal, emit: (uid: PodUid) => void) => Promise<void>): Observable<PodUid> {
  return new Observable((subscriber) => {
    const ended = new AbortController();
    void loop(ended.signal, (uid) => subscriber.next(uid));
    return () => ended.abort(new Error('the subscription has ended'));
  });
}
