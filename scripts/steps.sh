# Named steps of a script, one more at a time than there are processors, as each waits now and then for a disk, a network or
# another process; sourced by the other scripts.
#   step NAME COMMAND...     starts the command as soon as a place is free
#   steps_wait               waits for all of them
#   steps_done               the same, and ends with a table of minutes; 1 when a step failed
# What a step prints comes out in one piece when it has ended. A step is to keep one processor busy.
steps_folder=$(mktemp -d)
steps_running=0
steps_failed=0
steps_ended=()
declare -A steps_names  # by process

step() {
  local name=$1
  shift
  [ "$steps_running" -le "$(nproc)" ] || step_ended
  steps_running=$((steps_running + 1))
  (
    set +e
    TIMEFORMAT="%R %U %S"
    { time "$@" >"$steps_folder/$name.log" 2>&1; } 2>"$steps_folder/$name.time"
    echo $? >"$steps_folder/$name.status"
  ) &
  steps_names[$!]=$name
}

# Waits for a step to end, and prints what it said.
step_ended() {
  local ended name status
  wait -n -p ended
  steps_running=$((steps_running - 1))
  name=${steps_names[$ended]}
  status=$(cat "$steps_folder/$name.status")
  echo "=== $name"
  cat "$steps_folder/$name.log"
  if [ "$status" -ne 0 ]; then
    echo "=== $name failed ($status)"
    steps_failed=1
  fi
  steps_ended+=("$name")
}

steps_wait() {
  while [ "$steps_running" -gt 0 ]; do step_ended; done
}

steps_done() {
  steps_wait
  local name
  echo "step            minutes  of processor"
  for name in "${steps_ended[@]}"; do
    awk -v name="$name" '{ printf "%-14s %8.1f %13.1f\n", name, $1 / 60, ($2 + $3) / 60 }' "$steps_folder/$name.time"
  done
  rm -rf "$steps_folder"
  return $steps_failed
}
