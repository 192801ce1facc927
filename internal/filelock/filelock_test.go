package filelock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// long is a wait that ends only where something is broken.
const long = 30 * time.Second

// childEnv makes this test binary a second process: "<mode> <path>".
const childEnv = "FILELOCK_TEST_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		mode, path, _ := strings.Cut(job, " ")
		if err := child(mode, path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(mode, path string) error {
	me := Holder{PID: os.Getpid(), Command: "child " + mode, Since: time.Unix(1, 0).UTC()}
	switch mode {
	case "hold": // until the input ends
		release, err := For(path).Acquire(context.Background(), long, me)
		if err != nil {
			return err
		}
		fmt.Println("held")
		_, _ = io.Copy(io.Discard, os.Stdin)
		release()
		fmt.Println("released")
		return nil
	case "count":
		for range rounds {
			if err := count(path, me); err != nil {
				return err
			}
		}
		return nil
	case "try": // must be busy
		release, err := For(path).Acquire(context.Background(), 100*time.Millisecond, me)
		if err == nil {
			release()
			return errors.New("had the lock")
		}
		if !errors.Is(err, ErrBusy) {
			return err
		}
		return nil
	}
	return fmt.Errorf("no mode %q", mode)
}

const rounds = 40

// count adds one to a number beside the lock, in a way that loses additions
// where two do it at once, and fails where it meets somebody.
func count(path string, me Holder) error {
	release, err := For(path).Acquire(context.Background(), long, me)
	if err != nil {
		return err
	}
	defer release()
	inside, err := os.OpenFile(path+".inside", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("two at once: %w", err)
	}
	inside.Close()
	data, err := os.ReadFile(path + ".n")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	n, _ := strconv.Atoi(string(data))
	if err := os.WriteFile(path+".n", []byte(strconv.Itoa(n+1)), 0o600); err != nil {
		return err
	}
	return os.Remove(path + ".inside")
}

// process is a child that runs.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t *testing.T, mode, path string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(exe)}
	p.Env = append(os.Environ(), childEnv+"="+mode+" "+path)
	p.Stderr = os.Stderr
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	return p
}

func (p *process) says(t *testing.T, want string) {
	t.Helper()
	got, err := p.out.ReadString('\n')
	if strings.TrimSpace(got) != want {
		t.Fatalf("child says %q (%v), want %q", got, err, want)
	}
}

func (p *process) finish(t *testing.T) {
	t.Helper()
	p.in.Close()
	rest, _ := io.ReadAll(p.out)
	if err := p.Wait(); err != nil {
		t.Fatalf("child: %v: %s", err, rest)
	}
}

func lockPath(t *testing.T) string { return filepath.Join(t.TempDir(), "lock") }

var self = Holder{PID: os.Getpid(), Command: "test", Since: time.Unix(2, 0).UTC()}

// had takes the lock, which must be free soon.
func had(t *testing.T, path string) (release func()) {
	t.Helper()
	release, err := For(path).Acquire(context.Background(), long, self)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func busy(t *testing.T, path string) Holder {
	t.Helper()
	release, err := For(path).Acquire(context.Background(), 50*time.Millisecond, self)
	if err == nil {
		release()
		t.Fatal("had a lock that another holds")
	}
	var b *BusyError
	if !errors.Is(err, ErrBusy) || !errors.As(err, &b) {
		t.Fatalf("got %v, want a BusyError", err)
	}
	return b.Holder
}

// queued waits until n callers of this process stand in line.
func queued(t *testing.T, path string, n int) {
	t.Helper()
	l := For(path)
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(time.Millisecond) {
		l.mu.Lock()
		got := len(l.queue)
		l.mu.Unlock()
		if got == n {
			return
		}
	}
	t.Fatalf("never %d in line", n)
}

func TestExclusion(t *testing.T) {
	path := lockPath(t)
	const children, own = 3, 2
	var procs []*process
	for range children {
		procs = append(procs, start(t, "count", path))
	}
	var wg sync.WaitGroup
	for range own {
		wg.Go(func() {
			for range rounds {
				if err := count(path, self); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, p := range procs {
		p.finish(t)
	}
	got, err := os.ReadFile(path + ".n")
	if want := strconv.Itoa((children + own) * rounds); err != nil || string(got) != want {
		t.Errorf("got %s additions (%v), want %s", got, err, want)
	}
}

func TestKilledHolderFreesTheLock(t *testing.T) {
	path := lockPath(t)
	p := start(t, "hold", path)
	p.says(t, "held")
	busy(t, path)
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	had(t, path)()
}

func TestBusyNamesTheHolder(t *testing.T) {
	path := lockPath(t)
	p := start(t, "hold", path)
	p.says(t, "held")
	begun := time.Now()
	got := busy(t, path)
	if took := time.Since(begun); took < 50*time.Millisecond || took > long/2 {
		t.Errorf("gave up after %v, want 50ms", took)
	}
	want := Holder{PID: p.Process.Pid, Command: "child hold", Since: time.Unix(1, 0).UTC()}
	if got != want {
		t.Errorf("got holder %+v, want %+v", got, want)
	}
	p.finish(t)
	had(t, path)()
}

func TestBusyWithinTheProcess(t *testing.T) {
	path := lockPath(t)
	release := had(t, path)
	if got := busy(t, path); got != self {
		t.Errorf("got holder %+v, want %+v", got, self)
	}
	release()
	release() // the second time is nothing
	had(t, path)()
}

// What stands in the file is advice: nonsense does not lock anybody out.
func TestGarbageInTheFile(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "torn": `{"pid":12,"comm`, "another shape": `[1,2]`, "binary": "\x00\xff\xfe", "long": `{"command":"` + strings.Repeat("x", 1<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := lockPath(t)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p := start(t, "hold", path)
			p.says(t, "held")
			if got := busy(t, path); got.PID != p.Process.Pid {
				t.Errorf("got holder %+v over old garbage, want process %d", got, p.Process.Pid)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := busy(t, path); got != (Holder{}) {
				t.Errorf("got holder %+v from garbage, want none", got)
			}
			p.finish(t)
			had(t, path)()
		})
	}
}

// A caller that gave up must not end up with the lock: another process gets it.
func TestWaiterThatLeftDoesNotKeepTheLock(t *testing.T) {
	path := lockPath(t)
	first := start(t, "hold", path)
	first.says(t, "held")
	busy(t, path)
	first.finish(t)
	second := start(t, "hold", path)
	second.says(t, "held")
	second.finish(t)
	had(t, path)()
}

// The lock that comes for one that gave up goes to the next in line.
func TestNextInLineGetsTheLockOfOneThatLeft(t *testing.T) {
	path := lockPath(t)
	p := start(t, "hold", path)
	p.says(t, "held")
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() {
		_, err := For(path).Acquire(ctx, long, self)
		left <- err
	}()
	queued(t, path, 1)
	got := make(chan error, 1)
	go func() {
		release, err := For(path).Acquire(context.Background(), long, self)
		if err == nil {
			release()
		}
		got <- err
	}()
	queued(t, path, 2)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	p.finish(t)
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	path := lockPath(t)
	why := errors.New("the client went away")
	ctx, cancel := context.WithCancelCause(context.Background())
	release := had(t, path)
	done := make(chan error, 1)
	go func() {
		_, err := For(path).Acquire(ctx, long, self)
		done <- err
	}()
	queued(t, path, 1)
	cancel(why)
	if err := <-done; err != why {
		t.Errorf("got %v, want the cause", err)
	}
	release()
	if _, err := For(path).Acquire(ctx, long, self); err != why {
		t.Errorf("got %v of a free lock, want the cause", err)
	}
	had(t, path)()
}

func TestFirstComeFirstServed(t *testing.T) {
	path := lockPath(t)
	release := had(t, path)
	const n = 20
	var (
		wg  sync.WaitGroup
		got []int // the lock guards it
	)
	for i := range n {
		wg.Go(func() {
			release, err := For(path).Acquire(context.Background(), long, self)
			if err != nil {
				t.Error(err)
				return
			}
			got = append(got, i)
			release()
		})
		queued(t, path, i+1)
	}
	release()
	wg.Wait()
	want := make([]int, n)
	for i := range want {
		want[i] = i
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got order %v, want %v", got, want)
	}
}

func TestOneLockerAPath(t *testing.T) {
	path := lockPath(t)
	if a, b := For(path), For(path); a != b {
		t.Error("two lockers of one path")
	}
	if For(path) == For(path+"2") {
		t.Error("one locker of two paths")
	}
}

func TestNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "lock")
	if _, err := For(path).Acquire(context.Background(), long, self); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that the folder is missing", err)
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	had(t, path)()
}

// Every one in line hears of a lock that cannot be had, and nobody waits.
func TestErrorReachesEveryWaiter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "lock")
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := For(path).Acquire(context.Background(), long, self); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("got %v, want that the folder is missing", err)
			}
		})
	}
	wg.Wait()
}

func BenchmarkAcquire(b *testing.B) {
	l := For(filepath.Join(b.TempDir(), "lock"))
	for b.Loop() {
		release, err := l.Acquire(context.Background(), long, self)
		if err != nil {
			b.Fatal(err)
		}
		release()
	}
}
