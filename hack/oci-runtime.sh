# Sourced by those who set up engines of their own.
# An OCI runtime asks the kernel for negative OOM scores and for CAP_SYS_RESOURCE in privileged containers; where this machine's own
# capability set lacks it, both fail. A wrapper round the runtime drops just those two wishes, so that clients may ask for what they would
# ask for anywhere.
has_sys_resource() { (( (0x$(sed -n 's/^CapBnd:\s*//p' /proc/self/status) >> 24) & 1 )); }
clamped_runtime() { # FILE RUNTIME: makes FILE, which runs RUNTIME
  cat >"$1" <<R
#!/bin/sh
bundle= last=
for arg in "\$@"; do case \$arg in --bundle=*) bundle=\${arg#*=} ;; esac; [ "\$last" = --bundle ] && bundle=\$arg; last=\$arg; done
[ -n "\$bundle" ] && [ -f "\$bundle/config.json" ] && sed -i -e 's/"oomScoreAdj":-[0-9]*/"oomScoreAdj":0/' -e 's/"CAP_SYS_RESOURCE",//g' -e 's/,"CAP_SYS_RESOURCE"\]/]/g' "\$bundle/config.json"
PATH=\$PATH:/usr/sbin:/sbin exec $2 "\$@"
R
  chmod +x "$1"
}
