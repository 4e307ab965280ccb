/** Who asks (apiserver authentication/user Info). */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const anonymousUser: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** A user who has shown credentials belongs to system:authenticated (apiserver authentication/group AuthenticatedGroupAdder). */
export function authenticated(user: UserInfo): UserInfo {
  const said = user.groups.some((group) => group === 'system:authenticated' || group === 'system:unauthenticated');
  return said || user.name === anonymousUser.name ? user : { ...user, groups: [...user.groups, 'system:authenticated'] };
}
