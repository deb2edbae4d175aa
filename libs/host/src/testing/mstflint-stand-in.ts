// SPDX-License-Identifier: Apache-2.0
/**
 * mstflintStandIn is a shell script that behaves as mstconfig, mstfwreset and mstprivhost do (smartnic.md 7.3, 7.5), for
 * tests on machines without a Mellanox card. It is installed under all names. Its directory contains:
 * - `settings-CARD`, with a line "NAME DEFAULT CURRENT NEXT" for each setting, all numbers; CARD is 0000:3b:00,
 *   or 0000:3b:00.0 if the ports of the card have different settings
 * - `level-CARD` with "RESTRICTED" if the host may not change the card; otherwise it may
 * - `mode`: "hang", "garbage" or "refuse" makes the programs fail; otherwise they work
 * - `on-reset`: a script that runs when a card is reset
 * - `calls`, to which the script appends one line for each run
 * The settings INTERNAL_CPU_… take effect at a power cycle only, so a reset leaves their current values. All but the model are
 * hidden while the model of the next boot is 0.
 * Usage: `await writeFile("/usr/bin/mstconfig", mstflintStandIn("/var/lib/cards"), { mode: 0o755 })`.
 */
export function mstflintStandIn(directory: string): string {
  return `#!/bin/sh
cards='${directory}'
${script}`;
}

const script = String.raw`
program=$(basename "$0")
echo "$program $*" >> "$cards/calls"
case $(cat "$cards/mode" 2>/dev/null) in
  hang) exec sleep 600 ;;
  garbage) printf 'Configurations:  \033[2J Next\0 Boot (((\n* * * NUM_OF_VFS(\n'; exit 0 ;;
  refuse) echo '-E- Failed to open the device'; exit 3 ;;
esac

device= changes= command=
while [ $# -gt 0 ]; do
  case $1 in
    -d) device=$2; shift ;;
    -l) shift ;;
    -e|-y|--skip_driver) ;;
    q|query|reset|set|restrict|privilege) command=$1 ;;
    *=*) changes="$changes $1" ;;
    *) echo "-E- invalid argument: $1"; exit 3 ;;
  esac
  shift
done
file="$cards/settings-$device"
[ -e "$file" ] || file="$cards/settings-${"$"}{device%.*}"
if [ -z "$device" ]; then echo '-E- missing device name'; exit 3; fi
if [ ! -e "$file" ]; then echo '-E- Failed to open the device'; exit 3; fi

level=$(cat "$cards/level-${"$"}{device%.*}" 2>/dev/null || echo PRIVILEGED)

show() { # NAME NUMBER
  case $1 in
    SRIOV_EN) if [ "$2" = 1 ]; then echo 'True(1)'; else echo 'False(0)'; fi ;;
    LINK_TYPE_P*) if [ "$2" = 1 ]; then echo 'IB(1)'; else echo 'ETH(2)'; fi ;;
    INTERNAL_CPU_MODEL) if [ "$2" = 1 ]; then echo 'EMBEDDED_CPU(1)'; else echo 'SEPARATED_HOST(0)'; fi ;;
    INTERNAL_CPU_OFFLOAD_ENGINE) if [ "$2" = 1 ]; then echo 'DISABLED(1)'; else echo 'ENABLED(0)'; fi ;;
    INTERNAL_CPU_*) if [ "$2" = 1 ]; then echo 'EXT_HOST_PF(1)'; else echo 'ECPF(0)'; fi ;;
    *) echo "$2" ;;
  esac
}

is_hidden() { # NAME
  case $1 in
    INTERNAL_CPU_MODEL) false ;;
    INTERNAL_CPU_*) grep -q '^INTERNAL_CPU_MODEL .* 0$' "$file" ;;
    *) false ;;
  esac
}

rewrite() { # the lines of standard input become the settings
  cat > "$file.new" && mv "$file.new" "$file"
}

case $program:$command in
  mstconfig:q|mstconfig:query)
    printf '\nDevice #1:\n----------\n\n'
    printf '%-16s%-16s\n' 'Device type:' ConnectX5 'Name:' STAND-IN 'Description:' 'Stand-in' 'Device:' "$device"
    printf '\n%-45s%-16s%-16s%-16s\n' 'Configurations:' Default Current 'Next Boot'
    while read -r name default current next; do
      if is_hidden "$name"; then continue; fi
      mark=' '
      if [ "$next" != "$current" ] || [ "$next" != "$default" ]; then mark='*'; fi
      printf '%s        %-36s%-16s %-16s %-16s\n' "$mark" "$name" \
        "$(show "$name" "$default")" "$(show "$name" "$current")" "$(show "$name" "$next")"
    done < "$file"
    echo "The '*' shows parameters with next value different from default/current value."
    ;;
  mstconfig:set)
    if [ "$level" = RESTRICTED ]; then echo '-E- Failed to set configuration: Operation is not permitted'; exit 3; fi
    for change in $changes; do
      if is_hidden "${"$"}{change%%=*}" || ! grep -q "^${"$"}{change%%=*} " "$file"; then
        echo "-E- The Device doesn't support ${"$"}{change%%=*} parameter"
        exit 3
      fi
    done
    for change in $changes; do
      sed "s/^\(${"$"}{change%%=*} [0-9]* [0-9]*\) [0-9]*$/\1 ${"$"}{change#*=}/" "$file" | rewrite
    done
    echo 'Applying... Done!'
    echo '-I- Please reboot machine to load new configurations.'
    ;;
  mstfwreset:reset)
    sed '/^INTERNAL_CPU_/!s/^\([A-Z0-9_]* [0-9]*\) [0-9]* \([0-9]*\)$/\1 \2 \2/' "$file" | rewrite
    if [ -e "$cards/on-reset" ]; then sh "$cards/on-reset"; fi
    echo '-I- FW was loaded successfully.'
    ;;
  mstprivhost:q|mstprivhost:query)
    printf 'Host configurations\n-------------------\n%-30s: %s\n' level "$level"
    printf '\nPort functions status:\n-----------------------\n'
    for name in disable_rshim disable_tracer disable_port_owner disable_counter_rd; do
      printf '%-30s: FALSE\n' "$name"
    done
    ;;
  mstprivhost:*) echo '-E- Operation is not permitted (refer to the DPU user manual)'; exit 1 ;;
  *) echo '-E- missing configuration arguments'; exit 3 ;;
esac
`;
