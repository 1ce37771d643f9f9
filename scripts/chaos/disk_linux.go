package main

import "syscall"

// mountDisk mounts a small disk in memory at a folder, with room for mostWrites.
func mountDisk(folder string) error {
	return syscall.Mount("docent-chaos", folder, "tmpfs", 0, "size=1g,mode=700")
}

func unmountDisk(folder string) error { return syscall.Unmount(folder, 0) }
