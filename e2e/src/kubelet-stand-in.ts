// SPDX-License-Identifier: Apache-2.0
/**
 * kubeletStandIn installs a unit in the place of the kubelet, which writes down what the kubelet would find when it starts.
 * Usage: `const command = kubeletStandIn("ls /sys/class/net");`, run in a guest before it reboots.
 */

/** Returns the command that installs and enables it. `script` is one for sh; its output is written to /run/kubelet-found. */
export function kubeletStandIn(script: string): string {
  return `cat >/usr/local/bin/kubelet <<'EOF'
${script}
EOF
cat >/etc/systemd/system/kubelet.service <<'EOF'
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c '/bin/sh /usr/local/bin/kubelet >/run/kubelet-found 2>&1; true'
[Install]
WantedBy=multi-user.target
EOF
systemctl daemon-reload; systemctl enable kubelet.service`;
}
