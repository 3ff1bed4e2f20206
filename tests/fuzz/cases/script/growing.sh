a=$a$a
a=$a$a
a=$a$a
a=$a$a
a=$a$a
a=$a$a
hdparm -S 1 $a
