# Sourced by run.sh and test.sh: brings npm packages (with a Node of their own) into the checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

setup_npm() {
  command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or later with npm (Debian: apt-get install nodejs npm)" >&2; exit 1; }
  local want; want=$(cksum package.json package-lock.json)
  if [ "$(cat node_modules/.rxlet-setup 2>/dev/null)" != "$want" ]; then
    # npm ci empties the folder first, through a link as well: it would be another checkout's.
    [ ! -L node_modules ] || { echo "$PWD/node_modules is a link to packages of another version: remove it" >&2; exit 1; }
    echo "installing npm packages" >&2
    # No install scripts: nothing here needs one, and one of dockerode's optional packages would want a compiler.
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
    # Some versions of npm link no command of an optional package.
    if [ ! -e node_modules/.bin/node ]; then
      for node in node_modules/node-linux-*/bin/node; do [ ! -x "$node" ] || ln -sf "../${node#node_modules/}" node_modules/.bin/node; done
    fi
    echo "$want" >node_modules/.rxlet-setup
  fi
  # Node 24 comes with the packages, so that whatever Node the machine has will do.
  export PATH=$PWD/node_modules/.bin:$PATH
}
