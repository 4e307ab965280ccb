# Sourced by package.sh. Not Node's single executable: that one takes all arguments for its own, and the agent starts Node.js with other programs
# (docs/adr/0035).
make_binary() {
  local root=$work/binary file=$out/rxlet-linux-$arch sum
  stage_program "$root"
  find "$root" -type d -exec chmod 755 {} + -o -exec chmod go-w {} +
  tar_of "$root" | gzip -n -"$level" >"$work/program.tar.gz"
  sum=$(sha256sum "$work/program.tar.gz" | cut -c1-16)
  sed -e "s/@VERSION@/$version/; s/@SUM@/$sum/; s/@LINES@/$(($(wc -l <hack/packages/binary-head.sh) + 1))/" hack/packages/binary-head.sh >"$file"
  cat "$work/program.tar.gz" >>"$file"
  chmod 755 "$file"
}
