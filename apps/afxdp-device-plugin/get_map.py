# SPDX-License-Identifier: Apache-2.0
"""Gets the XSK map of each AF_XDP device of the pod from the device plugin, and holds it. In a pod: python3 get_map.py AFXDP_DEVICES_FAST"""
import os
import socket
import sys

SOCKET = os.environ.get("AFXDP_SOCKET", "/tmp/afxdp_dp/{}/afxdp.sock")


def ask(plugin, request, expected):
    """Sends a request. Returns the descriptor that came with the answer, or None."""
    plugin.send(request.encode())
    answer, descriptors, _, _ = socket.recv_fds(plugin, 64, 1)
    if answer.decode().rstrip("\0") != expected:
        raise SystemExit(f"{request}: {answer.decode()}")
    return descriptors[0] if descriptors else None


def get_map(device):
    """Returns the descriptor of the BPF map to which the program of the device redirects packets."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as plugin:
        plugin.connect(SOCKET.format(device))
        ask(plugin, f"/connect,{os.environ.get('POD_NAME', socket.gethostname())}", "/host_ok")
        descriptor = ask(plugin, f"/xsk_map_fd,{device}", "/fd_ack")
        ask(plugin, "/fin", "/fin_ack")
        return descriptor


for name in os.environ[sys.argv[1]].split():
    print(name, get_map(name), flush=True)  # for xsk_socket__update_xskmap, or bpf(BPF_MAP_UPDATE_ELEM)
