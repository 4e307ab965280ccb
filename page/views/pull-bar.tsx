import type { JSX } from 'preact';
import type { ExplainedPull } from '../../src/model/explanation.ts';
import { bytes, wholeDuration } from '../format.ts';

/** How far a pull is, and how long it still takes. */
export function PullBar({ pull, image }: { readonly pull: ExplainedPull; readonly image?: string | undefined }): JSX.Element {
  const { percent, msLeft, bytesDone, bytes: all, stage } = pull;
  const words = [
    percent === undefined ? stage : `${Math.round(percent)} %`,
    ...(bytesDone === undefined || all === undefined ? [] : [`${bytes(bytesDone)} of ${bytes(all)}`]),
    ...(msLeft === undefined ? [] : [`${wholeDuration(msLeft)} left`]),
  ].join(', ');
  return (
    <span class="pull">
      <span class="pull-what">Pulling{image === undefined ? '' : ` ${image}`}</span>
      <progress max={100} value={percent} aria-label={`Pull${image === undefined ? '' : ` of ${image}`}`} />
      <span class="pull-words">{words}</span>
    </span>
  );
}
