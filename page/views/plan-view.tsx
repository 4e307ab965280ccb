import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PlanAnswer } from '../../src/model/planned-changes.ts';
import type { PlanRequest } from '../../src/model/plan-request.ts';
import { type AgentApi, AgentError } from '../agent/agent-api.ts';
import { sentence, shown } from '../format.ts';

type Planned =
  | { readonly is: 'none' }
  | { readonly is: 'asked' }
  | { readonly is: 'here'; readonly answer: PlanAnswer }
  | { readonly is: 'failed'; readonly why: string };

const PATIENCE_MS = 40_000;

/** What would become of the pods if a manifest took its place among those that count now. It is not written anywhere. */
export function PlanView({ api }: { readonly api: AgentApi }): JSX.Element {
  const [text, setText] = useState('');
  const [file, setFile] = useState('');
  const [planned, setPlanned] = useState<Planned>({ is: 'none' });
  const plan = async (): Promise<void> => {
    setPlanned({ is: 'asked' });
    const request: PlanRequest = { manifests: [{ file: file.trim() === '' ? 'pasted.yaml' : file.trim(), text }] };
    try {
      const { value } = await api.json<PlanAnswer>('plan', AbortSignal.timeout(PATIENCE_MS), JSON.stringify(request));
      setPlanned({ is: 'here', answer: value });
    } catch (error) {
      setPlanned({ is: 'failed', why: whyNot(error) });
    }
  };
  return (
    <>
      <h1 tabIndex={-1}>Plan an edit</h1>
      <p class="muted">Paste a manifest: what would become of this node&apos;s pods if it counted. Nothing is changed.</p>
      <form
        class="plan-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') void plan();
        }}
      >
        <label for="plan-file">In place of the file (optional)</label>
        <input
          id="plan-file"
          type="text"
          placeholder="web.yaml"
          autocomplete="off"
          value={file}
          onInput={(event) => setFile(event.currentTarget.value)}
        />
        <label for="plan-text">Manifest</label>
        <textarea
          id="plan-text"
          class="mono"
          rows={14}
          spellcheck={false}
          placeholder={'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n…'}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <p>
          <button type="submit" class="main-button" disabled={planned.is === 'asked'}>
            {planned.is === 'asked' ? 'Planning…' : 'Plan'}
          </button>
        </p>
      </form>
      <div aria-live="polite">
        {planned.is === 'failed' && (
          <section class="cause cause-fault" aria-label="No plan">
            <p class="cause-text">{sentence(shown(planned.why))}</p>
          </section>
        )}
        {planned.is === 'here' && <PlanResult answer={planned.answer} />}
      </div>
    </>
  );
}

function whyNot(error: unknown): string {
  if (!(error instanceof AgentError)) return 'the plan took too long: ask again';
  return error.status === 404 || error.status === 405 ? "this agent makes no plans here: 'rxlet plan' does, in a terminal" : error.message;
}

function PlanResult({ answer: { pods, objects, faults, moreFaults } }: { readonly answer: PlanAnswer }): JSX.Element {
  const changed = pods.filter(({ consequence }) => consequence !== 'nothing');
  return (
    <>
      <h2>What would happen</h2>
      {faults.length > 0 && (
        <section class="cause cause-fault" aria-label="Faults">
          {faults.map(({ file, line, column, message }) => (
            <p key={`${file} ${line} ${column} ${message}`}>
              <span class="mono">
                {shown(file)}:{line}:{column}
              </span>{' '}
              {shown(message)}
            </p>
          ))}
          {moreFaults > 0 && <p>and {moreFaults} more</p>}
        </section>
      )}
      {changed.length === 0 && objects.length === 0 && faults.length === 0 && <p>Nothing: all runs on as it is.</p>}
      <ul class="containers">
        {changed.map(({ pod, consequence, containers, because, changes, moreChanges }) => (
          <li key={pod} class={`container planned-${consequence === 'refused' || consequence === 'stop' ? 'sick' : 'note'}`}>
            <h3>
              {shown(pod)} <span class="tag">{consequence}</span>
            </h3>
            {containers.length > 0 && <p class="muted">{shown(containers.join(', '))}</p>}
            <ul class="lines">
              {because.map((why) => (
                <li key={why}>{sentence(shown(why))}</li>
              ))}
            </ul>
            <ul class="lines mono changes">
              {changes.map(({ path, from, to }) => (
                <li key={path}>
                  {shown(path)}: <del>{shown(from ?? 'none')}</del> → <ins>{shown(to ?? 'none')}</ins>
                </li>
              ))}
              {moreChanges > 0 && <li>and {moreChanges} more</li>}
            </ul>
          </li>
        ))}
        {objects.map(({ object, consequence, keys, live, atNextStart }) => (
          <li key={object} class="container planned-note">
            <h3>
              {shown(object)} <span class="tag">{consequence}</span>
            </h3>
            {keys.length > 0 && <p class="mono">{shown(keys.join(', '))}</p>}
            {live.length > 0 && <p>Seen while they run: {shown(live.join(', '))}</p>}
            {atNextStart.length > 0 && <p>Seen at the next start: {shown(atNextStart.join(', '))}</p>}
          </li>
        ))}
      </ul>
    </>
  );
}
