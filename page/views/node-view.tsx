import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ExplainedNode } from '../../src/model/explanation.ts';
import type { NodeHistoryAnswer } from '../../src/model/node-history.ts';
import { type AgentApi, AgentError } from '../agent/agent-api.ts';
import { sleep } from '../agent/sleep.ts';
import { bytes, sentence, shown } from '../format.ts';
import type { Loaded } from '../page-state.ts';
import { Plot } from '../plots/plot.tsx';
import { roundTop } from '../plots/line-path.ts';
import { CauseBox } from './cause-box.tsx';
import { useAgentNow } from './times.tsx';

const EVERY_MS = 10_000;

/** The node: whether it is well, its parts, and what it used over the last hour. */
export function NodeView({
  node,
  api,
  isLive,
}: {
  readonly node: ExplainedNode | undefined;
  readonly api: AgentApi;
  readonly isLive: boolean;
}): JSX.Element {
  const history = useHistory(api, isLive);
  return (
    <>
      <h1 tabIndex={-1}>{node === undefined ? 'Node' : `Node ${shown(node.name)}`}</h1>
      {node?.causes.map((cause) => (
        <CauseBox key={`${cause.code} ${cause.text}`} cause={cause} />
      ))}
      <h2>Last hour</h2>
      {history.is === 'loading' ? (
        <p class="muted loading">Asking the agent…</p>
      ) : history.is === 'failed' ? (
        <p class="muted">{sentence(shown(history.why))}</p>
      ) : (
        <Plots history={history.value} />
      )}
      {node !== undefined && (
        <>
          <h2>Parts</h2>
          <ul class="parts">
            {node.parts.map(({ part, well, text }) => (
              <li key={part} class={well ? 'part' : 'part part-sick'}>
                <span class={`dot ${well ? 'dot-well' : 'dot-sick'}`} aria-hidden="true" />
                <b>{sentence(shown(part))}</b>
                <span>
                  {!well && <span class="visually-hidden">not well: </span>}
                  {shown(text)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Plots({ history: { cores, memoryBytes, diskBytes, samples } }: { readonly history: NodeHistoryAnswer }): JSX.Element {
  const toMs = Math.max(useAgentNow(), samples.atMs.at(-1) ?? 0);
  const common = { atMs: samples.atMs, toMs };
  const waited = [...samples.cpuWaited, ...samples.memoryWaited, ...samples.ioWaited];
  const percent = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} %`;
  return (
    <>
      {samples.atMs.length < 2 && (
        <p class="muted">Sampled from now on, each ten seconds: lines grow while this is looked at, and for an hour after.</p>
      )}
      <div class="plots">
        <Plot
          {...common}
          title={`CPU, of ${cores} cores`}
          lines={[{ name: 'cores', values: samples.cpuCores, style: 'a' }]}
          most={cores}
          show={(value) => `${value.toFixed(value < 10 ? 2 : 1)} cores`}
        />
        <Plot
          {...common}
          title={`Memory${memoryBytes === null ? '' : `, of ${bytes(memoryBytes)}`}`}
          lines={[{ name: 'used', values: samples.memoryUsed, style: 'a' }]}
          most={memoryBytes ?? roundTop(samples.memoryUsed, 1)}
          show={bytes}
        />
        <Plot
          {...common}
          title={`Disk${diskBytes === null ? '' : `, of ${bytes(diskBytes)}`}`}
          lines={[{ name: 'used', values: samples.diskUsed, style: 'a' }]}
          most={diskBytes ?? roundTop(samples.diskUsed, 1)}
          show={bytes}
        />
        <Plot
          {...common}
          title="Pressure: time that something waited"
          lines={[
            { name: 'for CPU', values: samples.cpuWaited, style: 'a' },
            { name: 'for memory', values: samples.memoryWaited, style: 'b' },
            { name: 'for disks', values: samples.ioWaited, style: 'c' },
          ]}
          most={roundTop(waited, 10)}
          show={percent}
        />
      </div>
    </>
  );
}

/** Again each ten seconds, while the agent is there. */
function useHistory(api: AgentApi, isLive: boolean): Loaded<NodeHistoryAnswer> {
  const [history, setHistory] = useState<Loaded<NodeHistoryAnswer>>({ is: 'loading' });
  useEffect(() => {
    if (!isLive) return undefined;
    const own = new AbortController();
    const follow = async (): Promise<void> => {
      while (!own.signal.aborted) {
        try {
          const { value } = await api.json<NodeHistoryAnswer>('node-history', own.signal);
          setHistory({ is: 'here', value });
        } catch (error) {
          if (!own.signal.aborted && error instanceof AgentError && error.status !== undefined)
            setHistory({ is: 'failed', why: error.message });
        }
        await sleep(EVERY_MS, own.signal);
      }
    };
    void follow();
    return () => own.abort();
  }, [api, isLive]);
  return history;
}
