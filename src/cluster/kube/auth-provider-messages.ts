/** What the program of auth providers reads. */
export interface ProviderQuestion {
  readonly server: string;
  /** auth-provider of the user, with what it learned last time. */
  readonly provider: { readonly name: string; readonly config: Readonly<Record<string, unknown>> };
}

/** What it writes. */
export type ProviderAnswer =
  | {
      readonly authorization?: string | undefined;
      readonly certificatePem?: string | undefined;
      readonly keyPem?: string | undefined;
      /** The provider's config with the tokens of now. */
      readonly config: Readonly<Record<string, unknown>>;
    }
  | { readonly error: string };
