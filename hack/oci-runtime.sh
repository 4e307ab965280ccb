# Sourced by those who set up engines of their own.
# An OCI runtime asks the kernel for negative OOM scores, and for CAP_SYS_RESOURCE in privileged containers and their commands; where this
# machine's own capability set lacks it, all of them fail. A wrapper round the runtime drops just these wishes, so that clients may ask for
# what they would ask for anywhere.
has_sys_resource() { (( (0x$(sed -n 's/^CapBnd:\s*//p' /proc/self/status) >> 24) & 1 )); }
clamped_runtime() { # FILE RUNTIME: makes FILE, which runs RUNTIME
  cat >"$1" <<R
#!/bin/sh
file= last=
for arg in "\$@"; do
  case \$arg in --bundle=*) file=\${arg#*=}/config.json ;; --process=*) file=\${arg#*=} ;; esac
  case \$last in --bundle) file=\$arg/config.json ;; --process) file=\$arg ;; esac
  last=\$arg
done
[ -f "\$file" ] && sed -i -e 's/"oomScoreAdj":-[0-9]*/"oomScoreAdj":0/' -e 's/"CAP_SYS_RESOURCE",//g' -e 's/,"CAP_SYS_RESOURCE"\]/]/g' "\$file"
PATH=\$PATH:/usr/sbin:/sbin exec $2 "\$@"
R
  chmod +x "$1"
}
