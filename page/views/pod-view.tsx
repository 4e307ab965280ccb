import { Fragment, type JSX } from 'preact';
import type { StreamEntry } from '../../src/model/stream-entry.ts';
import type { ExplainedContainer, Explanation } from '../../src/model/explanation.ts';
import { clockTime, counted, sentence, shown } from '../format.ts';
import type { Loaded, PodDetail } from '../page-state.ts';
import { TimelineView } from '../timeline/timeline-view.tsx';
import { CauseBox } from './cause-box.tsx';
import { PullBar } from './pull-bar.tsx';
import { StateMark } from './state-mark.tsx';
import { Since, Until } from './times.tsx';

/** One pod: why it is in its state, its containers as declared and as they are, and its events. */
export function PodView({ pod, detail }: { readonly pod: string; readonly detail: PodDetail | undefined }): JSX.Element {
  const explanations = detail?.pod === pod ? detail.explanations : undefined;
  return (
    <>
      <p class="back">
        <a href="#pods">← All pods</a>
      </p>
      <h1 tabIndex={-1}>{shown(pod)}</h1>
      {explanations === undefined || explanations.is === 'loading' ? (
        <p class="muted loading">Asking the agent…</p>
      ) : explanations.is === 'failed' ? (
        <div class="empty">
          <p>
            <strong>{sentence(shown(explanations.why))}</strong>
          </p>
        </div>
      ) : (
        explanations.value.map((each, at) => (
          <ExplainedPod key={each.uid ?? at} explanation={each} past={detail?.past ?? { is: 'loading' }} />
        ))
      )}
    </>
  );
}

function ExplainedPod({ explanation, past }: { readonly explanation: Explanation; readonly past: PodDetail['past'] }): JSX.Element {
  const { state, phase, sinceMs, causes, containers, origin, uid, underWay, nextLookMs, decision, events } = explanation;
  const place = origin.where === undefined ? origin.source : `${origin.where}${origin.line === undefined ? '' : `:${origin.line}`}`;
  return (
    <article class="pod">
      <p class="pod-head">
        <StateMark state={state} />
        {phase !== undefined && <span>{phase}</span>}
        {sinceMs !== undefined && <Since atMs={sinceMs} words="for " />}
      </p>
      {causes.map((cause) => (
        <CauseBox key={`${cause.code} ${cause.container ?? ''}`} cause={cause} />
      ))}
      {uid !== undefined && (
        <>
          <h2>Timeline</h2>
          <Past past={past} explanation={explanation} />
        </>
      )}
      {containers.length > 0 && <h2>Containers</h2>}
      <ul class="containers">
        {containers.map((container) => (
          <ContainerBox key={container.name} container={container} />
        ))}
      </ul>
      {decision && (
        <>
          <h2>Last decision</h2>
          <dl class="facts">
            <dt>When</dt>
            <dd>
              <Since atMs={decision.atMs} /> ago, woken by {shown(decision.woken.join(', ')) || 'nothing'}
            </dd>
            <dt>Because</dt>
            <dd>
              <Lines lines={decision.because} />
            </dd>
            {decision.did.length > 0 && (
              <>
                <dt>Did</dt>
                <dd>
                  <Lines lines={decision.did} />
                </dd>
              </>
            )}
            {decision.failed !== undefined && (
              <>
                <dt>Failed</dt>
                <dd class="fault-text">{shown(decision.failed)}</dd>
              </>
            )}
          </dl>
        </>
      )}
      <h2>About it</h2>
      <dl class="facts">
        {place !== undefined && (
          <>
            <dt>From</dt>
            <dd class="mono">{shown(place)}</dd>
          </>
        )}
        {uid !== undefined && (
          <>
            <dt>UID</dt>
            <dd class="mono">{shown(uid)}</dd>
          </>
        )}
        {underWay && (
          <>
            <dt>Under way</dt>
            <dd>
              {shown(underWay.what)}, <Since atMs={underWay.sinceMs} words="for " />
            </dd>
          </>
        )}
        {nextLookMs !== undefined && (
          <>
            <dt>Looked at again</dt>
            <dd>
              <Until atMs={nextLookMs} />, or on change
            </dd>
          </>
        )}
      </dl>
      {events.length > 0 && (
        <>
          <h2>Events</h2>
          <ul class="events">
            {events.toReversed().map((event) => (
              <li key={`${event.atMs} ${event.reason} ${event.message}`} class={event.type === 'Warning' ? 'event warning' : 'event'}>
                <span class="mono muted">{clockTime(event.atMs)}</span>
                <span>
                  <b>{shown(event.reason)}</b>
                  {event.times > 1 && <span class="muted"> {event.times} times</span>} {shown(event.message)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </article>
  );
}

function Past({ past, explanation }: { readonly past: Loaded<readonly StreamEntry[]>; readonly explanation: Explanation }): JSX.Element {
  switch (past.is) {
    case 'loading':
      return <p class="muted">Asking the agent…</p>;
    case 'failed':
      return <p class="muted">{sentence(shown(past.why))}</p>;
    case 'here':
      return <TimelineView entries={past.value} explanation={explanation} />;
    default:
      return past satisfies never;
  }
}

function ContainerBox({ container }: { readonly container: ExplainedContainer }): JSX.Element {
  const { name, kind, image, desired, observed, sinceMs, restarts, isWell, pull, probes, lastLines } = container;
  return (
    <li class={isWell ? 'container' : 'container container-sick'}>
      <h3>
        {shown(name)} {kind !== 'app' && <span class="tag">{kind}</span>}
      </h3>
      {image !== undefined && <p class="mono muted image">{shown(image)}</p>}
      <dl class="facts">
        <dt>Wanted</dt>
        <dd>{shown(desired)}</dd>
        <dt>Found</dt>
        <dd class={isWell ? undefined : 'fault-text'}>
          {shown(observed)}
          {sinceMs !== undefined && (
            <span class="muted">
              {', '}
              <Since atMs={sinceMs} words="for " />
            </span>
          )}
        </dd>
        {restarts > 0 && (
          <>
            <dt>Restarts</dt>
            <dd>{restarts}</dd>
          </>
        )}
        {probes.map(({ kind: of, tries }) => (
          <Fragment key={of}>
            <dt>{sentence(of)}</dt>
            <dd>
              <span
                class="tries"
                role="img"
                aria-label={`the last ${counted(tries.length, 'try', 'tries')}: ${tries.map(({ outcome }) => outcome).join(', ')}`}
              >
                {tries.map(({ atMs, outcome, message }) => (
                  <i
                    key={atMs}
                    class={outcome === 'success' ? 'try-well' : 'try-sick'}
                    title={shown(`${clockTime(atMs)} ${outcome} ${message}`)}
                  />
                ))}
              </span>
              {tries.at(-1)?.outcome !== 'success' && <span class="fault-text"> {shown(tries.at(-1)?.message ?? '')}</span>}
            </dd>
          </Fragment>
        ))}
      </dl>
      {pull && pull.stage !== 'pulled' && <PullBar pull={pull} image={image === undefined ? undefined : shown(image)} />}
      {lastLines && lastLines.length > 0 && (
        <details open={!isWell}>
          <summary>Its last lines</summary>
          <pre class="log" tabIndex={0} aria-label={`The last lines of ${shown(name)}`}>
            {lastLines.map(shown).join('\n')}
          </pre>
        </details>
      )}
    </li>
  );
}

function Lines({ lines }: { readonly lines: readonly string[] }): JSX.Element {
  return (
    <ul class="lines">
      {lines.map((line) => (
        <li key={line}>{sentence(shown(line))}</li>
      ))}
    </ul>
  );
}
