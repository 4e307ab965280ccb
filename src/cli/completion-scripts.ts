import type { shells } from './completion-usage.ts';

/** All ask `rxlet __complete -- WORD...` for words, and offer files or directories where its last line says so. */
export const completionScripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: String.raw`# bash completion for rxlet
_rxlet() {
  local -a line found
  local current besides
  read -ra line <<<"\${COMP_LINE:0:COMP_POINT}"
  [[ \${COMP_LINE:0:COMP_POINT} != *[[:space:]] ]] || line+=("")
  current=\${line[-1]}
  mapfile -t found < <("\${line[0]}" __complete -- "\${line[@]:1}" 2>/dev/null)
  ((\${#found[@]})) || return 0
  besides=\${found[-1]}
  unset 'found[-1]'
  # bash ends a word at = and completes what follows it.
  case $current in
    *=*) found=("\${found[@]#"\${current%%=*}="}") current=\${current#*=} ;;
  esac
  case $besides in
    :files) compopt -o filenames && mapfile -t -O \${#found[@]} found < <(compgen -f -- "$current") ;;
    :directories) compopt -o filenames && mapfile -t -O \${#found[@]} found < <(compgen -d -- "$current") ;;
  esac
  COMPREPLY=("\${found[@]}")
}
complete -F _rxlet rxlet
`.replaceAll(String.raw`\$`, '$'),
  zsh: String.raw`#compdef rxlet
_rxlet() {
  local -a found
  local besides
  found=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  besides=\${found[-1]}
  found=("\${(@)found[1,-2]}")
  (( \${#found} == 0 )) || compadd -- "\${found[@]}"
  case $besides in
    (:files) compset -P '--*='; _files ;;
    (:directories) compset -P '--*='; _files -/ ;;
  esac
}
if [[ $funcstack[1] == _rxlet ]]; then _rxlet "$@"; else compdef _rxlet rxlet; fi
`.replaceAll(String.raw`\$`, '$'),
  fish: `# fish completion for rxlet
function __rxlet_complete
    set -l line (commandline -opc)
    set -l current (commandline -ct)
    set -l program $line[1]
    set -e line[1]
    set -l found ($program __complete -- $line "$current" 2>/dev/null)
    test (count $found) -gt 0; or return
    set -l besides $found[-1]
    set -e found[-1]
    test (count $found) -eq 0; or printf '%s\\n' $found
    # What is offered for --flag=PATH has to begin with all of it.
    set -l flag (string match -r '^--[^=]*=' -- "$current")
    set -l path (string replace -r '^--[^=]*=' '' -- "$current")
    switch $besides
        case :files
            string replace -r -- '^' "$flag" (__fish_complete_path "$path")
        case :directories
            string replace -r -- '^' "$flag" (__fish_complete_directories "$path" '')
    end
end
complete -c rxlet -f -a '(__rxlet_complete)'
`,
};
