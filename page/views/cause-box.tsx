import type { JSX } from 'preact';
import type { Cause } from '../../src/model/explanation.ts';
import { sentence, shown } from '../format.ts';
import { Since, Until } from './times.tsx';

/** Why something is as it is, since when, until when, and what to do. */
export function CauseBox({ cause: { kind, text, detail, sinceMs, untilMs, advice } }: { readonly cause: Cause }): JSX.Element {
  return (
    <section class={`cause cause-${kind}`} aria-label="Cause">
      <p class="cause-text">{sentence(shown(text))}</p>
      {(sinceMs !== undefined || untilMs !== undefined) && (
        <p class="muted">
          {sinceMs !== undefined && <Since atMs={sinceMs} words="for " />}
          {sinceMs !== undefined && untilMs !== undefined && ' · '}
          {untilMs !== undefined && (
            <>
              {kind === 'wait' ? 'over ' : 'tried again '}
              <Until atMs={untilMs} />
            </>
          )}
        </p>
      )}
      {advice !== undefined && (
        <p>
          <b>To do:</b> {shown(advice)}
        </p>
      )}
      {detail !== undefined && !text.includes(detail) && <pre class="detail">{shown(detail)}</pre>}
    </section>
  );
}
