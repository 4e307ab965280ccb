import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { clockTime, sentence, shown, wholeDuration } from '../format.ts';
import type { Connection } from '../page-state.ts';
import { useNow } from './use-now.ts';

export interface ConnectionBarProps {
  readonly connection: Connection;
  readonly onRetry: () => void;
  readonly onSignIn: (token: string) => void;
}

/** Says that the agent has gone, when it is tried again, or that it asks for a token; nothing while all is well. */
export function ConnectionBar({ connection, onRetry, onSignIn }: ConnectionBarProps): JSX.Element | null {
  switch (connection.is) {
    case 'connecting':
    case 'live':
      return null;
    case 'lost':
      return (
        <section class="notice notice-fault" aria-label="Connection">
          <p>
            <strong>The agent is gone since {clockTime(connection.sinceMs)}.</strong> What is shown is as it was then.{' '}
            {sentence(shown(connection.why))}.
          </p>
          <p class="notice-more">
            <Countdown toMs={connection.nextTryMs} />
            <button type="button" onClick={onRetry}>
              Try now
            </button>
          </p>
        </section>
      );
    case 'refused':
      return <SignIn {...connection} onSignIn={onSignIn} />;
    default:
      return connection satisfies never;
  }
}

function Countdown({ toMs }: { readonly toMs: number }): JSX.Element {
  const leftMs = toMs - useNow();
  return <span>{leftMs > 0 ? `Next try in ${wholeDuration(leftMs + 999)}.` : 'Trying…'}</span>;
}

interface SignInProps {
  readonly status: number;
  readonly why: string;
  readonly onSignIn: (token: string) => void;
}

function SignIn({ status, why, onSignIn }: SignInProps): JSX.Element {
  const [token, setToken] = useState('');
  return (
    <section class="notice" aria-labelledby="sign-in">
      <h2 id="sign-in">{status === 401 ? 'This node asks who you are' : 'You may not see this node'}</h2>
      <p>
        The agent answered: <q>{shown(why)}</q>. A bearer token of who may <code>get</code> <code>nodes/proxy</code> opens the page, such as
        that of <code>kubectl create token NAME -n NAMESPACE</code>. It is kept until this tab is closed, and nowhere else.
      </p>
      <form
        class="sign-in"
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim() !== '') onSignIn(token.trim());
        }}
      >
        <label for="token">Token</label>
        <input id="token" type="password" autocomplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
        <button type="submit">Open</button>
      </form>
    </section>
  );
}
