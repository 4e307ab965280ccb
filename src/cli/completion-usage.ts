export const shells = ['bash', 'zsh', 'fish'] as const;

export const completionUsage = `Usage: rxlet completion bash|zsh|fish

Prints the completions of a shell: commands, flags, files, and names of what the agent on this machine runs.

  bash   source <(rxlet completion bash)
  zsh    rxlet completion zsh >"\${fpath[1]}/_rxlet"
  fish   rxlet completion fish >~/.config/fish/completions/rxlet.fish
`;
