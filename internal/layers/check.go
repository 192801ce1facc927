package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// check parses every Go file of a tree, whatever system it is built for, and
// returns what stands against the table, sorted by file and line. owed are the
// debts it met. Folders named testdata, hidden ones and other modules are not
// looked into.
func check(tree fs.FS) (findings []string, owed map[string]bool, err error) {
	owed = map[string]bool{}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == "." {
				return nil
			}
			base := path.Base(name)
			if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return fs.SkipDir
			}
			if _, err := fs.Stat(tree, path.Join(name, "go.mod")); err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		found, err := checkFile(name, src, owed)
		findings = append(findings, found...)
		return err
	})
	return findings, owed, err
}

func checkFile(name string, src []byte, owed map[string]bool) (findings []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, src, 0)
	if err != nil {
		return nil, err
	}
	say := func(pos token.Pos, format string, args ...any) {
		findings = append(findings, fmt.Sprintf("%s:%d: ", name, set.Position(pos).Line)+fmt.Sprintf(format, args...))
	}
	dir := path.Dir(name)
	row, ok := rowOf(dir)
	if !ok {
		say(file.Package, "folder %s is not in the table", dir)
		return findings, nil
	}
	test := strings.HasSuffix(name, "_test.go")
	names := map[string]string{} // what an import is called here: its path
	for _, spec := range file.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return findings, fmt.Errorf("%s: %w", name, err)
		}
		called := baseName(imp)
		if spec.Name != nil {
			called = spec.Name.Name
		}
		if called == "." {
			say(spec.Pos(), "%s is imported without a name", imp)
		}
		names[called] = imp
		if why := row.refuses(dir, imp, test); why != "" {
			debt := dir + " → " + ours(imp)
			if _, known := Debts[debt]; known && !test {
				owed[debt] = true
				continue
			}
			say(spec.Pos(), "%s", why)
		}
		if r, ok := reserved(imp); ok && !test && !r.allows(dir) {
			say(spec.Pos(), "%s may not use %s: %s", dir, imp, r.who())
		}
	}
	if test {
		return findings, nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok || id.Obj != nil { // a variable of that name
			return true
		}
		if imp, ok := names[id.Name]; ok {
			if r, ok := reserved(imp + "." + sel.Sel.Name); ok && !r.allows(dir) {
				say(sel.Pos(), "%s may not use %s.%s: %s", dir, id.Name, sel.Sel.Name, r.who())
			}
		}
		return true
	})
	return findings, nil
}

// rowOf finds the row of a folder: its own, else that of a tree it lies in.
func rowOf(dir string) (Folder, bool) {
	for _, f := range Folders {
		if f.Path == dir {
			return f, true
		}
	}
	for _, f := range Folders {
		if tree, ok := strings.CutSuffix(f.Path, "/..."); ok && below(dir, tree) {
			return f, true
		}
	}
	return Folder{}, false
}

// refuses says why files of dir may not import imp; empty where they may.
func (f Folder) refuses(dir, imp string, test bool) string {
	switch {
	case imp == module+"/"+dir && test: // a test from outside
		return ""
	case imp == module || below(imp, module):
		folder := ours(imp)
		if covers(f.Ours, folder) || test && (covers(f.Tests, folder) || covers(anyTest, folder)) {
			return ""
		}
		return fmt.Sprintf("%s may not import %s", dir, folder)
	case strings.Contains(strings.SplitN(imp, "/", 2)[0], "."): // somebody else's module
		if covers(f.Libs, imp) || test && (covers(f.Tests, imp) || covers(anyTest, imp)) {
			return ""
		}
		return fmt.Sprintf("%s may not import %s", dir, imp)
	case f.Pure && !test && slices.ContainsFunc(impure, func(p string) bool { return below(imp, p) }):
		return fmt.Sprintf("%s is pure and may not import %s", dir, imp)
	}
	return ""
}

// covers reports whether a list of a row names what: itself, a tree or a
// module around it, or anything of ours.
func covers(list []string, what string) bool {
	for _, entry := range list {
		tree, isTree := strings.CutSuffix(entry, "/...")
		switch {
		case entry == "...":
			if _, ok := rowOf(what); ok {
				return true
			}
		case entry == what, isTree && below(what, tree):
			return true
		case strings.Contains(strings.SplitN(entry, "/", 2)[0], ".") && below(what, entry):
			return true
		}
	}
	return false
}

func reserved(what string) (Reserved, bool) {
	for _, r := range Uses {
		if r.What == what {
			return r, true
		}
	}
	return Reserved{}, false
}

func (r Reserved) allows(dir string) bool {
	_, ok := r.Folders[dir]
	return ok
}

func (r Reserved) who() string {
	if len(r.Folders) == 0 {
		return "nobody may"
	}
	var who []string
	for f := range r.Folders {
		who = append(who, f)
	}
	slices.Sort(who)
	return "only " + strings.Join(who, ", ")
}

// ours is the folder of an import of ours, or the import as it is.
func ours(imp string) string { return strings.TrimPrefix(imp, module+"/") }

// below reports whether p is root or lies in it.
func below(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

// baseName is what a package is called where nothing else is said: the last
// part of its path, without a version.
func baseName(imp string) string {
	base := path.Base(imp)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(imp))
	}
	return base
}
